import type { Page, Response } from "playwright-core";

interface Refused {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  postData?: string;
}

const formHeaders = { "Content-Type": "application/x-www-form-urlencoded" };

/** Requests that no form of the site sends, by the status of the page that answers them. */
export const refused = {
  400: { method: "GET", path: "/%" },
  404: { method: "GET", path: "/nowhere" },
  405: { method: "GET", path: "/logout" },
  413: { method: "POST", path: "/login", headers: formHeaders, postData: `email=${"a".repeat(17_000)}` },
  415: { method: "POST", path: "/login", headers: { "Content-Type": "text/plain" } },
} as const satisfies Record<number, Refused>;

export async function navigate(page: Page, { method, path, headers, postData }: Refused): Promise<Response | null> {
  await page.route(`**${path}`, (route) =>
    route.continue({ method, headers: { ...route.request().headers(), ...headers }, ...(postData && { postData }) }),
  );
  const answer = await page.goto(path);
  await page.unrouteAll();
  return answer;
}

export async function postFromAnotherSite(page: Page, url: string): Promise<void> {
  await page.goto("about:blank");
  await page.setContent(`<form method="post" action="${url}/login"><button>Send</button></form>`);
  await page.getByRole("button", { name: "Send" }).click();
}
