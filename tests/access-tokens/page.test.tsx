import { screen } from "@testing-library/react";
import { test } from "vitest";
import Tokens from "~/routes/account.tokens";
import { english, renderPage } from "../support/render-page";

test.each([
  [
    null,
    "Resetting your password ends every token. Logging out, changing the password and ending other sessions do not.",
  ],
  ["Google", "A token ends when you remove it. Ending other sessions does not end it."],
])("the page of tokens says what ends them (PASSWORDS=off, with the provider: %s)", async (passwordless, sentence) => {
  const loaded = {
    account: "1",
    tokens: [],
    newId: "2",
    origins: [],
    hasWildcard: false,
    days: [90],
    signInAgain: false,
  };
  await renderPage("/account/tokens", Tokens, { loaded, content: { ...english, passwordless } });
  screen.getByText(sentence);
});
