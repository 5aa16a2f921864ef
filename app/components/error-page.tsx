import { useLocation } from "@remix-run/react";
import { useEffect } from "react";
import { Page } from "./page";

interface ErrorText {
  title: string;
  text: string;
  /** The label of the one link: to the same address again, or to the start page. */
  next: "Try again" | "Open the form again" | "Go to the start page";
}

const texts: Record<number, ErrorText> = {
  400: {
    title: "This address cannot be read",
    text: "Something in it is broken. If it came from a mail, copy the whole link.",
    next: "Go to the start page",
  },
  403: {
    title: "Sent from another site",
    text: "For your safety, forms are only taken from our own pages.",
    next: "Open the form again",
  },
  404: { title: "Page not found", text: "There is no page at this address.", next: "Go to the start page" },
  405: { title: "This does not work here", text: "The page cannot be opened this way.", next: "Go to the start page" },
  413: { title: "Too much text", text: "The form was longer than it can be.", next: "Open the form again" },
  415: { title: "Form not understood", text: "It was sent in a way that we cannot read.", next: "Open the form again" },
  422: { title: "Form not understood", text: "Part of it was missing.", next: "Open the form again" },
  429: { title: "Too many attempts", text: "Wait a few minutes, then try again.", next: "Try again" },
  503: { title: "Back in a moment", text: "We cannot answer right now. Nothing was lost.", next: "Try again" },
};

const unexpected: ErrorText = {
  title: "Something went wrong",
  text: "It is our fault, not yours. Try again in a moment.",
  next: "Try again",
};

export const errorText = (status: number): ErrorText => texts[status] ?? unexpected;

/** Its link is a full page load, because the failed page's scripts may not work. */
export function ErrorPage({ status }: { status: number }) {
  const { pathname, search } = useLocation();
  const { title, text, next } = errorText(status);
  useEffect(() => document.querySelector("h1")?.focus(), []);
  return (
    <Page title={title}>
      <p>{text}</p>
      <p>
        <a href={next === "Go to the start page" ? "/" : `${pathname}${search}`} className="button">
          {next}
        </a>
      </p>
    </Page>
  );
}
