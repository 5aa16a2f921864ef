import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { tokenResponse } from "#server/provider/client";
import { providerMetadata } from "#server/provider/discovery";
import { type Provider, providers } from "#server/provider/providers";
import { providerCases, providerNames } from "./providers";

type Row = [what: string, shape: z.ZodType, answer: object];

const sso = "https://sso.example";
const endpoints = { authorization_endpoint: `${sso}/authorize`, token_endpoint: sso, userinfo_endpoint: `${sso}/me` };

const ofProviders = providerNames.flatMap((provider) => {
  const { profile, emails }: Provider = providers[provider];
  const shapes = new Map([
    ["profile", profile],
    ["emails", emails?.email],
  ]);
  return providerCases[provider]().steps.flatMap(({ name, answer }): Row[] => {
    const shape = shapes.get(name);
    return shape ? [[`${name} of ${provider}`, shape, answer]] : [];
  });
});

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Whatever is not an object, at any depth, with its path. */
const valuesIn = (answer: object): [path: string[], value: unknown][] =>
  Object.entries(answer).flatMap(([name, inner]) =>
    isObject(inner)
      ? valuesIn(inner).map(([path, value]): [string[], unknown] => [[name, ...path], value])
      : [[[name], inner]],
  );

function withValue(answer: object, path: string[], value: unknown): object {
  const copy = structuredClone(answer);
  const parent = path.slice(0, -1).reduce<object>((inner, name) => Reflect.get(inner, name), copy);
  Reflect.set(parent, path.at(-1) ?? "", value);
  return copy;
}

const withMoreFields = (answer: object): object =>
  JSON.parse(JSON.stringify(answer), (_name, value) =>
    isObject(value) && !Array.isArray(value) ? { ...value, not_documented: {} } : value,
  );

describe.each<Row>([
  ["token response", tokenResponse, { access_token: "a", token_type: "Bearer" }],
  ["provider metadata", providerMetadata, { issuer: sso, ...endpoints }],
  ...ofProviders,
])("%s", (_what, shape, answer) => {
  test("fields that are not documented are dropped", { tags: ["1.5.2", "15.3.5"] }, () => {
    expect(shape.parse(withMoreFields(answer))).toEqual(shape.parse(answer));
  });

  test("an object in place of a value is refused, or counts as none", { tags: ["1.5.2", "15.3.5"] }, () => {
    for (const [path, value] of valuesIn(answer)) {
      const { data } = shape.safeParse(withValue(answer, path, { toString: value }));
      if (data !== undefined) expect(data, path.join(".")).toEqual(shape.parse(withValue(answer, path, undefined)));
    }
  });
});
