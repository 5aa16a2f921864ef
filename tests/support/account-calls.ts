import * as dashboard from "~/routes/dashboard";
import * as login from "~/routes/login";
import * as completeRegistration from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import type { MailedLink } from "./mailed-links";
import { goodPassword, twice } from "./passwords";
import { call, get, post, type RequestOptions } from "./route-calls";

type Fields = Record<string, string>;
type Headers = RequestOptions["headers"];

/** Posts the login form. */
export const logIn = (email = "ada@example.com", password = goodPassword, options: RequestOptions = {}) =>
  call(login.action, post("/login", { email, password }, options));

/** Opens the account page with the browser's `Cookie` header. */
export const openAccount = (cookie: string, headers?: Headers) =>
  call(dashboard.loader, get("/dashboard", { cookie, headers }));

/** Posts a form of the account page. */
export const act = (cookie: string, intent: string, fields: Fields = {}, headers?: Headers) =>
  call(dashboard.action, post("/dashboard", { intent, ...fields }, { cookie, headers }));

/** Posts the form of a mailed reset link. */
export const resetWith = (link: MailedLink, password: string, options: RequestOptions = {}) =>
  call(resetPassword.action, post("/reset-password", { ...link, ...twice(password) }, options));

/** Posts the form of a mailed registration link. */
export const registerWith = (link: MailedLink, password: string, options: RequestOptions = {}) =>
  call(completeRegistration.action, post("/register/complete", { ...link, ...twice(password) }, options));
