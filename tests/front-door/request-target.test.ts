import { expect, test } from "vitest";
import { parseTarget } from "#server/door/request-target";

test.each([
  ["/a/../build/b", "/build/b"],
  ["/a/%2e%2e/build/b", "/build/b"],
  ["http://localhost/a/./b", "/a/b"],
])("the path of the target %s is resolved", (target, path) => {
  expect(parseTarget(target)).toMatchObject({ path });
});

test.each(["/a/.b/../../build/b", "/a/.b/./", "/a/.b/.."])("the target %s keeps no dot segment", (target) => {
  // Node 20 and 22 do not resolve it (ada-url/ada#935): it counts as unreadable there.
  expect(parseTarget(target)?.path ?? "").not.toMatch(/\/\.{1,2}(?:\/|$)/);
});
