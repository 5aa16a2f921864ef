export interface Answer {
  status: number;
  headers: Headers;
  location: string | null;
  setCookies: string[];
  body: string;
}

export interface Sent {
  method?: string;
  cookie?: string;
  headers?: Record<string, string>;
  form?: Record<string, string> | [string, string][];
  body?: BodyInit;
}

/** One request to a started server, as a browser on its own pages sends it; no redirect is followed. */
export async function send(server: { url: string }, path: string, sent: Sent = {}): Promise<Answer> {
  const { cookie, form, headers } = sent;
  const body = form ? new URLSearchParams(form) : sent.body;
  const response = await fetch(`${server.url}${path}`, {
    method: sent.method ?? (body === undefined ? "GET" : "POST"),
    redirect: "manual",
    headers: { ...(body !== undefined && { Origin: server.url }), ...(cookie && { Cookie: cookie }), ...headers },
    ...(body !== undefined && { body }),
  });
  return {
    status: response.status,
    headers: response.headers,
    location: response.headers.get("Location"),
    setCookies: response.headers.getSetCookie(),
    body: await response.text(),
  };
}

/** The `Cookie` header of a browser that was handed `setCookies`. */
export const cookieOf = ({ setCookies }: Answer) => setCookies.map((line) => line.split(";", 1)[0]).join("; ");
