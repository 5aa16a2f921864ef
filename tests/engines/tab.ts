/** A tab of a browser of its own, by what the flows need. Elements are named as a visitor sees them. */
export interface Tab {
  open(url: string): Promise<void>;
  /** Types into the field with this label, or with this name where the page has no labels. */
  type(field: string, text: string): Promise<void>;
  /** A click on the button, the link or the summary with this text. */
  press(text: string): Promise<void>;
  /** Waits until the page shows this text as a heading, a notice or a part of one. */
  see(text: string): Promise<void>;
  /** Presses a key, wherever the focus is. */
  key(name: Key): Promise<void>;
  /** Evaluates an expression in the page. */
  ask<Value>(expression: string): Promise<Value>;
  url(): Promise<string>;
  close(): Promise<void>;
}

/** As W3C WebDriver, section 17.4.2, spells it. */
export const keys = { Enter: "\uE007", Escape: "\uE00C", Tab: "\uE004" };

type Key = keyof typeof keys;

export interface Engine {
  /** Starts a browser with a profile of its own. */
  start(scripts: boolean): Promise<Tab>;
}

export const seconds = 20; // for each command

const quoted = (text: string) => `"${text}"`; // no text of the flows has a quote

export const fieldPath = (field: string) =>
  `//input[@id = //label[normalize-space() = ${quoted(field)}]/@for or @name = ${quoted(field)}]`;

/** By its first words, which may be in a span: "Log in" may have the badge "Last used". */
export const controlPath = (text: string) =>
  `//*[self::button or self::a or self::summary][normalize-space((text() | span/text())[1]) = ${quoted(text)}]`;

export const textPath = (text: string) =>
  `//*[self::h1 or ancestor-or-self::*[@role = "status" or @role = "alert"]][contains(normalize-space(), ${quoted(text)})]`;
