export interface Answer {
  status: number;
  headers: Headers;
  location: string | null;
  contentType: string | null;
  setCookies: string[];
  body: string;
  /** From the request to the last byte of the answer. */
  milliseconds: number;
}

export interface Sent {
  method?: string;
  cookie?: string;
  headers?: Record<string, string>;
  form?: Record<string, string> | [string, string][];
  body?: BodyInit;
}

/** On a new connection, with the Origin of the server's own pages. No redirect is followed. */
export async function send(origin: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { cookie, form, headers } = sent;
  const body = form ? new URLSearchParams(form) : sent.body;
  const start = performance.now();
  const response = await fetch(`${origin}${path}`, {
    method: sent.method ?? (body === undefined ? "GET" : "POST"),
    redirect: "manual",
    headers: {
      Connection: "close",
      ...(body !== undefined && { Origin: origin }),
      ...(cookie && { Cookie: cookie }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  const received = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    location: response.headers.get("Location"),
    contentType: response.headers.get("Content-Type"),
    setCookies: response.headers.getSetCookie(),
    body: received,
    milliseconds: performance.now() - start,
  };
}

export const cookieOf = ({ setCookies }: Answer) => setCookies.map((line) => line.split(";", 1)[0]).join("; ");
