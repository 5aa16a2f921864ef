import { DEVICE_LIFETIME_MS } from "#server/rules";
import { isHttps, readCookie, writeCookie } from "./cookies.server";

const cookieName = (request: Request) => (isHttps(request) ? "__Host-device" : "device");

export const deviceToken = (request: Request) => readCookie(request, cookieName(request));

export function withDevice(request: Request, response: Response, token: string): Response {
  const attributes = { path: "/", maxAge: DEVICE_LIFETIME_MS / 1000 };
  response.headers.append("Set-Cookie", writeCookie(request, cookieName(request), token, attributes));
  return response;
}
