import { readdirSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Says where a function stands above one that calls it: a file is read from its callers to what they call. */

const files = ["app", "server"]
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)))
  .filter((file) => /\.tsx?$/.test(file));
const program = ts.createProgram(files, { noResolve: true, noLib: true, jsx: ts.JsxEmit.Preserve });
const checker = program.getTypeChecker();

for (const file of files) {
  const statements = program.getSourceFile(file)?.statements ?? [];
  const functions = new Map<ts.Symbol, ts.Statement>();
  for (const statement of statements) {
    const name = nameOfFunction(statement);
    const symbol = name && checker.getSymbolAtLocation(name);
    if (symbol) functions.set(symbol, statement);
  }
  const uses = new Map(statements.map((statement) => [statement, usesIn(statement, functions)]));
  const atLoad = new Set([...uses.values()].flatMap(({ atLoad }) => [...atLoad]));
  const callsBack = (from: ts.Statement, to: ts.Statement, seen = new Set<ts.Statement>()): boolean =>
    from === to ||
    (!seen.has(from) && [...(uses.get(from)?.later ?? [])].some((next) => callsBack(next, to, seen.add(from))));
  for (const [caller, { later }] of uses) {
    for (const called of later) {
      if (called.pos > caller.pos || atLoad.has(called) || callsBack(called, caller)) continue;
      const callerName = nameOfFunction(caller)?.text ?? "a statement";
      console.error(`${file}: ${nameOfFunction(called)?.text} stands above its caller ${callerName}`);
      process.exitCode = 1;
    }
  }
}

function nameOfFunction(statement: ts.Statement): ts.Identifier | undefined {
  if (ts.isFunctionDeclaration(statement)) return statement.name;
  if (!ts.isVariableStatement(statement)) return undefined;
  const [{ name, initializer }] = statement.declarationList.declarations as unknown as [ts.VariableDeclaration];
  return ts.isIdentifier(name) && initializer && ts.isArrowFunction(initializer) ? name : undefined;
}

/** The functions of the file that a statement names: when the file is loaded, which they must precede, or later. */
function usesIn(statement: ts.Statement, functions: Map<ts.Symbol, ts.Statement>) {
  const uses = { atLoad: new Set<ts.Statement>(), later: new Set<ts.Statement>() };
  const visit = (node: ts.Node, time: keyof typeof uses): void => {
    if (ts.isTypeNode(node)) return;
    const symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    const named = symbol && functions.get(symbol);
    if (named && named !== statement) uses[time].add(named);
    ts.forEachChild(node, (child) => visit(child, ts.isFunctionLike(node) ? "later" : time));
  };
  visit(statement, "atLoad");
  return uses;
}
