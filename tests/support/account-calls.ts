import * as confirmEmail from "~/routes/account.email";
import * as dashboard from "~/routes/dashboard";
import * as forgotPassword from "~/routes/forgot-password";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import * as register from "~/routes/register";
import * as completeRegistration from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import type { MailedLink } from "./mailed-links";
import { goodPassword, twice } from "./passwords";
import { call, get, post, type RequestOptions } from "./route-calls";

// What a person does at the pages, in this process. `support/visitor.ts` does it over HTTP, `support/browser/` in a browser.

export interface Login extends RequestOptions {
  email?: string;
  password?: string;
  /** The query of the page, with its `?`. */
  search?: string;
}

export const openLogin = (search = "", options: RequestOptions = {}) =>
  call(login.loader, get(`/login${search}`, options));

export const logIn = ({ email = "ada@example.com", password = goodPassword, search = "", ...options }: Login = {}) =>
  call(login.action, post(`/login${search}`, { email, password }, options));

export const logOut = (cookie: string, search = "", options: RequestOptions = {}) =>
  call(logout.action, post(`/logout${search}`, {}, { cookie, ...options }));

/** Opens the account page with the browser's `Cookie` header. */
export const openAccount = (cookie: string, options: RequestOptions = {}) =>
  call(dashboard.loader, get("/dashboard", { cookie, ...options }));

/** Posts a form of the account page. */
export const act = (
  cookie: string,
  intent: string,
  fields: Record<string, string> = {},
  options: RequestOptions = {},
) => call(dashboard.action, post("/dashboard", { intent, ...fields }, { cookie, ...options }));

export const askForReset = (email: string, options: RequestOptions = {}) =>
  call(forgotPassword.action, post("/forgot-password", { email }, options));

export const askForAccount = (email: string, options: RequestOptions = {}, search = "") =>
  call(register.action, post(`/register${search}`, { email }, options));

/** Posts the form of a mailed reset link. */
export const resetWith = (link: MailedLink, password: string, options: RequestOptions = {}) =>
  call(resetPassword.action, post("/reset-password", { ...link, ...twice(password) }, options));

/** Posts the form of a mailed registration link. */
export const registerWith = (link: MailedLink, password: string, options: RequestOptions = {}) =>
  call(completeRegistration.action, post("/register/complete", { ...link, ...twice(password) }, options));

/** Posts the form of a mailed link that changes the address. */
export const confirmAddress = (link: MailedLink, options: RequestOptions = {}) =>
  call(confirmEmail.action, post("/account/email", link, options));
