export interface SetCookie {
  name: string;
  value: string;
  expired: boolean;
}

export function setCookieOf(line: string): SetCookie {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  const maxAge = /; *Max-Age=(-?\d+)/i.exec(line)?.[1];
  const expires = /; *Expires=([^;]+)/i.exec(line)?.[1];
  const expired =
    maxAge !== undefined ? Number(maxAge) <= 0 : expires !== undefined && Date.parse(expires) <= Date.now();
  return { name, value, expired };
}
