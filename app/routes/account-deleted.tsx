import type { MetaFunction } from "@remix-run/node";
import { Link } from "@remix-run/react";
import { Page } from "~/components/page";

export const meta: MetaFunction = () => [{ title: "Your account was deleted · Latchkey" }];

export default function AccountDeleted() {
  return (
    <Page title="Your account was deleted">
      <p>Everything in it is gone, and it is logged out everywhere.</p>
      <p className="aside">
        <Link to="/register">Create a new account</Link>
      </p>
    </Page>
  );
}
