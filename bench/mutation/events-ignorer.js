// Read by Stryker. Events are lines of the log, which tests/monitoring/events.test.ts compares.

/** Whether a node of Babel's syntax tree calls a function that logs an event. */
const isLogCall = (node) => node.type === "CallExpression" && /^log(?:Event|SessionEnd)$/.test(node.callee.name);

/** Whether a statement does nothing but log an event, under a condition or none. */
function onlyLogs(node) {
  if (node.type === "IfStatement") return !node.alternate && onlyLogs(node.consequent);
  return node.type === "ExpressionStatement" && isLogCall(node.expression);
}

export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "events",
    value: {
      shouldIgnore: ({ node }) => (isLogCall(node) || onlyLogs(node) ? "tests/monitoring/events.test.ts" : undefined),
    },
  },
];
