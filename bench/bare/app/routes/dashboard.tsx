import { type LoaderFunctionArgs, redirect } from "@remix-run/node";
import { useLoaderData } from "@remix-run/react";
import { findUser } from "../database.server";

export async function loader({ request }: LoaderFunctionArgs) {
  const user = await findUser(request.headers.get("Cookie"));
  if (!user) throw redirect("/login");
  return { user };
}

export default function Dashboard() {
  const { user } = useLoaderData<typeof loader>();
  return (
    <main>
      <h1>Your account</h1>
      <p>{user.name}</p>
      <p>{user.email}</p>
    </main>
  );
}
