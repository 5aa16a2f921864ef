export interface Alert {
  name: string;
  expression: string;
}

/** The alerts of docs/monitoring.md. */
export function alerts(document: string): Alert[] {
  const [, section = ""] = /\n## Alerts\n([\s\S]*?)\n## /.exec(document) ?? [];
  const found = section.matchAll(/^- \*\*(.+?)\*\*[\s\S]*?^ {2}`([^`]+)`$/gm);
  return [...found].map(([, name = "", expression = ""]) => ({ name, expression: expression.replace(/\s+/g, " ") }));
}
