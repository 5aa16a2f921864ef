import type { BrandColors } from "../settings/brand-colors";

export const paragraph = (text: string) => `<p style="margin:0 0 16px">${text}</p>`;

/** A button, and its URL as text for clients that do not show buttons. Outlook draws the cell, not the link. */
export function button(label: string, url: string, { fill, onFill }: BrandColors): string {
  const href = escapeHtml(url);
  return `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px"><tr><td bgcolor="${fill}" style="border-radius:8px;background-color:${fill}"><a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:8px;color:${onFill};font-weight:600;text-decoration:none">${label}</a></td></tr></table>
<p dir="ltr" style="margin:0 0 16px;font-size:12px;word-break:break-all">${smallLink(href, url)}</p>`;
}

// The light theme's colours are inline: many mail clients drop the style sheet.
const ink = "#1c2422";
const muted = "#55615d";

export const smallLink = (label: string, url: string) =>
  `<a class="muted" href="${escapeHtml(url)}" style="color:${muted}">${label}</a>`;

interface MailDocument {
  name: string;
  colors: BrandColors;
  lang: string;
  dir: "ltr" | "rtl";
  /** HTML, below the card. */
  footer: string[];
}

const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** The style sheet is the dark theme, for the clients that read it: it overrides the inline styles. */
export function html(subject: string, blocks: string[], { name, colors, lang, dir, footer }: MailDocument): string {
  const { text } = colors;
  const foot = footer.length > 0 ? `<tr><td style="padding:16px 4px 0">${aside(footer.join(" · "))}</td></tr>\n` : "";
  const start = dir === "rtl" ? "right" : "left";
  return `<!doctype html>
<html lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>
:root { color-scheme: light dark }
@media (prefers-color-scheme: dark) {
.ground { background-color: #121615 !important }
.card { background-color: #1a201e !important; border-color: #303a36 !important }
.ink { color: #e3e9e6 !important }
.muted { color: #a2aea9 !important }
.accent { color: ${text.dark} !important }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background-color:#f3f5f4">
<table class="ground" role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f3f5f4" style="background-color:#f3f5f4">
<tr><td align="center" style="padding:32px 16px">
<table class="ink" role="presentation" width="100%" dir="${dir}" cellpadding="0" cellspacing="0" border="0" style="max-width:480px;${font};font-size:16px;line-height:1.5;color:${ink};text-align:${start}">
<tr><td class="accent" style="padding:0 4px 16px;font-weight:600;color:${text.light}">${escapeHtml(name)}</td></tr>
<tr><td class="card" bgcolor="#ffffff" style="padding:28px 28px 12px;border:1px solid #dfe4e2;border-radius:12px;background-color:#ffffff">
${blocks.join("\n")}
</td></tr>
${foot}</table>
</td></tr>
</table>
</body>
</html>
`;
}

export const aside = (text: string) =>
  `<p class="muted" style="margin:0 0 8px;font-size:14px;color:${muted}">${text}</p>`;

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
