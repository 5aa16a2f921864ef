import { beforeEach, describe, expect, test } from "vitest";
import type { AccountEvent } from "#server/database/entities";
import { eventWords } from "#server/features/owner/activity";
import { texts } from "#server/languages/texts";
import { enqueue } from "#server/queue/job-queue";
import type { Job } from "#server/queue/jobs";
import { browserName } from "#server/visitor/browsers";
import { agoIn } from "~/account/account-page";
import * as language from "~/routes/language";
import { chooseLanguage } from "~/visitor/visitor";
import {
  act,
  askForAccount,
  askForReset,
  confirmAddress,
  logIn,
  openAccount,
  registerWith,
  resetWith,
} from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink, resetLink } from "../support/mailed-links";
import { bypasses } from "../support/open-redirects";
import { goodPassword, twice } from "../support/passwords";
import { call, get, type Outcome, post, type RequestOptions } from "../support/route-calls";

const latchkey = startLatchkey();

const asks = (tag: string) => ({ headers: { "Accept-Language": tag } });

describe("the form that chooses a language", () => {
  const choose = (fields: Record<string, string> | [string, string][], options: RequestOptions = {}) =>
    call(language.action, post("/language", fields, options));

  test("sets a cookie", async () => {
    const done = await choose({ language: "ar", page: "/" });
    expect(done.headers.getSetCookie()).toEqual(["language=ar; HttpOnly; Max-Age=34560000; Path=/; SameSite=Lax"]);
  });

  test("shows the same page again", async () => {
    const done = await choose({ language: "ar", page: "/reset-password?email=ada%40example.com&token=ff" });
    expect(done).toMatchObject({ status: 302, location: "/reset-password?email=ada%40example.com&token=ff" });
  });

  test("sets on https a cookie that no other host can set", async () => {
    const done = await choose({ language: "en", page: "/" }, { facts: { origin: "https://localhost:3000" } });
    const cookie = "__Host-language=en; HttpOnly; Max-Age=34560000; Path=/; SameSite=Lax; Secure";
    expect(done.headers.getSetCookie()).toEqual([cookie]);
  });

  const pages = [...bypasses("http://localhost:3000"), ["no URL", "http://["]];
  test.each(pages)("leads to the start page for %s: %j", async (_what, page) => {
    expect(await choose({ language: "en", page: page ?? "" })).toMatchObject({ status: 302, location: "/" });
  });

  const unknown = ["xx", "", "toString", "__proto__", "EN", "en; Domain=example.org"];
  test.each(unknown)("sets no cookie for the language %j", async (tag) => {
    const { status, location, cookies } = await choose({ language: tag, page: "/login" });
    expect({ status, location, cookies }).toEqual({ status: 302, location: "/login", cookies: {} });
  });

  test("is refused by GET", async () => {
    expect((await call(language.loader, get("/language"))).status).toBe(405);
  });
});

test.each(["de", "fr"] as const)("no line of a page in %s ends within the word for mail", (language) => {
  const { pages, answers } = texts[language];
  expect(JSON.stringify([pages, answers])).not.toMatch(/e-mail/i); // but U+2011
});

test.each(["de", "fr"] as const)("no line of the history in %s ends within the word for mail", (language) => {
  const sent = { type: "mail.sent", actor: null, detail: "email_changed" } as AccountEvent;
  expect(eventWords(sent, language).what).not.toMatch(/e-mail/i);
});

test("an address or a chosen name in an Arabic sentence has its own direction", () => {
  const bare = /(?<![\u2066\u2068>])\{(account|address|email|host|name|newEmail|oldEmail|origin)\}/u; // `>`: an element's
  expect(JSON.stringify(texts.ar)).not.toMatch(bare);
});

describe("the language of a visitor", () => {
  test.each([
    ["de", "de"],
    ["de-AT, en;q=0.9", "de"],
    ["DE-at", "de"],
    ["en;q=0.7, fr-CH;q=0.8", "fr"],
    ["pt-BR, es;q=0.5, *;q=0.1", "es"],
    ["zh-Hant-TW, ja;q=0.3", "ja"],
    ["en;q=0, ar", "ar"],
    ["de;q=0.5, ja;q=0.5", "de"],
    ["*", "fr"],
    ["pt", "fr"],
    ["*;q=0.5, en", "en"],
  ])("by Accept-Language %j with DEFAULT_LOCALE=fr is %s", (header, expected) => {
    latchkey.configure({ DEFAULT_LOCALE: "fr" });
    expect(chooseLanguage(null, header)).toBe(expected);
  });

  test("is the default one without Accept-Language", () => {
    latchkey.configure({ DEFAULT_LOCALE: "ja" });
    expect(chooseLanguage(null, null)).toBe("ja");
  });

  test.each([
    ["ar", "ar"],
    ["xx", "de"],
    ["__proto__", "de"],
    ["", "de"],
  ])("by the cookie %j with Accept-Language de is %s", (cookie, expected) => {
    expect(chooseLanguage(cookie, "de")).toBe(expected);
  });

  test.each([
    "",
    ",",
    ";q=",
    "en;q=nan",
    "__proto__",
    "constructor",
    "xx-YY;q=0.5, zz",
    "en;q=0",
    "a".repeat(8_000),
    "en-,".repeat(4_000),
    `${"x;q=0.1,".repeat(2_000)}de`,
    "\u0000",
    "é",
  ])("is the default one for the header %j", (header) => {
    expect(chooseLanguage(null, header)).toBe("en");
  });
});

describe("an answer", () => {
  test("to a login is in the visitor's language", async () => {
    await latchkey.createUser();
    const refused = await logIn({ password: "x", ...asks("de") });
    expect(refused.data.message).toBe("E‑Mail-Adresse oder Passwort ist falsch.");
  });

  test("to a reset is in the visitor's language", async () => {
    const invalid = await resetWith({ email: "ada@example.com", token: "0".repeat(64) }, goodPassword, asks("ja"));
    expect(invalid.data.invalidLink).toBe("この再設定用リンクは無効か、有効期限が切れています。");
  });

  describe("about a session", () => {
    const shown = async () => {
      const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
      const cookie = await latchkey.signedIn({}, agent);
      await latchkey.execute("update sessions set created_at = '2026-11-01T09:05:00Z', expires_at = '2100-01-01'");
      return (await openAccount(cookie, asks("de"))).data.sessions;
    };

    test("names the browser in the visitor's language", async () => {
      expect(await shown()).toMatchObject([{ browser: "Firefox unter Linux" }]);
    });

    test("names moments in the visitor's language", async () => {
      const since = {
        at: "2026-11-01T09:05:00.000Z",
        ago: expect.stringMatching(/^vor \d+ Tagen$/),
        exact: expect.stringMatching(/^1\. November 2026 .*09:05 UTC$/),
      };
      expect(await shown()).toMatchObject([{ since, lastSeen: { ago: "jetzt" } }]);
    });
  });

  test.each([
    ["en", 0, "now"],
    ["en", 59, "now"],
    ["en", -5, "now"], // the database's clock may be ahead
    ["en", 60, "1 minute ago"],
    ["en", 3_599, "59 minutes ago"],
    ["de", 3_600, "vor 1 Stunde"],
    ["de", 172_799, "vor 1 Tag"], // not "gestern": the server does not know when the reader's day began
    ["fr", 180, "il y a 3 minutes"],
    ["es", 180, "hace 3 minutos"],
    ["ja", 2_592_000, "30 日前"],
    ["ar", 180, "قبل 3 دقائق"],
  ] as const)("in %s calls what was %i seconds ago %j", (tag, seconds, words) => {
    const at = new Date("2026-11-01T09:05:00Z");
    expect(agoIn(tag, at, at.getTime() + seconds * 1000)).toBe(words);
  });
});

describe("a mail", () => {
  test.each([
    ["a reset", askForReset, "mail_password_reset"],
    ["a registration", askForAccount, "mail_registration"],
  ])("for %s has the page's language", async (_what, ask, task) => {
    await ask("nobody@example.com", asks("ja"));
    expect(await latchkey.jobs()).toEqual([{ task, email: "nobody@example.com", language: "ja" }]);
  });

  test("is written in the language of its job", async () => {
    await latchkey.createUser();
    await askForReset("ada@example.com", asks("ar"));
    await latchkey.drain();
    expect(latchkey.mails().map(({ subject }) => subject)).toEqual(["إعادة ضبط كلمة المرور"]);
  });

  describe("about a login", () => {
    let cookie: string;

    beforeEach(async () => {
      cookie = await latchkey.signedIn();
      latchkey.configure({ DEFAULT_LOCALE: "es" });
    });

    const mailOfLogin = async () => {
      await logIn(asks("ja"));
      await latchkey.drain();
      return latchkey.mails().at(-1);
    };

    const chooseFrench = () =>
      call(language.action, post("/language", { language: "fr", page: "/dashboard" }, { cookie }));

    test("is in DEFAULT_LOCALE while the owner has chosen no language", async () => {
      expect((await mailOfLogin())?.subject).toBe("Nuevo inicio de sesión en tu cuenta");
    });

    test("is in the language that the owner has chosen", async () => {
      await chooseFrench();
      expect((await mailOfLogin())?.subject).toBe("Nouvelle connexion à votre compte");
    });

    test("names the browser in the owner's language", async () => {
      await chooseFrench();
      expect((await mailOfLogin())?.text).toMatch(/^Navigateur inconnu, .* UTC$/m);
    });
  });

  const german = asks("de");
  const posts = (intent: string, fields?: Record<string, string>) => (cookie: string) =>
    act(cookie, intent, fields, german);
  const email = "grace@example.com";

  async function endNewSession(cookie: string): Promise<Outcome> {
    await logIn();
    const [newest] = await latchkey.execute<{ id: string }>("select id from sessions order by created_at desc limit 1");
    return posts("end-session", { sessionId: newest!.id })(cookie);
  }

  async function keepProvider(): Promise<Outcome> {
    await latchkey.execute("update users set idp_questioned_at = now() - interval '1 minute'");
    const { cookies } = await logIn();
    return posts("keep-provider")(`session=${cookies.session}`);
  }

  test.each<[string, (cookie: string) => Promise<Outcome>, status?: number]>([
    ["change-email", posts("change-email", { email }), 200],
    ["change-password", posts("change-password", { currentPassword: goodPassword, ...twice("a new one!") })],
    ["unlink-provider", posts("unlink-provider")],
    ["end-other-sessions", posts("end-other-sessions")],
    ["end-session", endNewSession, 200],
    ["keep-provider", keepProvider, 200],
    ["a reset", async () => resetWith(await resetLink(latchkey), "a new one!", german)],
    ["a confirmed address", async (cookie) => confirmAddress(await emailChangeLink(latchkey, cookie, email), german)],
    ["a registration", async () => registerWith(await registrationLink(latchkey), "a new one!", german)],
  ])("has the language in which the owner acted last: %s", async (_what, acts, status = 302) => {
    const cookie = await latchkey.signedIn({ idpId: "42" });
    expect((await acts(cookie)).status).toBe(status);
    const users = await latchkey.execute<{ language: string }>("select language from users where language is not null");
    expect(users).toEqual([{ language: "de" }]);
  });

  test("of a job that an earlier version enqueued is in DEFAULT_LOCALE", async () => {
    latchkey.configure({ DEFAULT_LOCALE: "es" });
    await latchkey.createUser();
    await enqueue(latchkey.em(), { task: "mail_password_reset", email: "ada@example.com" } as Job);
    await latchkey.drain();
    expect(latchkey.mails().map(({ subject }) => subject)).toEqual(["Restablece tu contraseña"]);
  });
});

describe("the name of a browser", () => {
  const linux = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";

  // A name on a page has the direction of its first letter.
  test("starts with an Arabic letter in Arabic", () => {
    expect(browserName(`${linux} Chrome/130.0.0.0 Safari/537.36`, "ar")).toMatch(/^\p{Script=Arabic}.*Chrome.*Linux$/u);
  });

  test("names the system once", () => {
    const samsung = linux.replace("X11; Linux x86_64", "Linux; Android 14; SM-S918B");
    const userAgent = `${samsung} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`;
    expect(browserName(userAgent, "en")).toBe("Samsung Internet on Android");
  });
});
