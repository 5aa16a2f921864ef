const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");

// Inline styles with the pages' colours: many mail clients ignore style sheets.
const ink = "#1c2422";
const muted = "#55615d";
const accent = "#0b6355";
const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

export const paragraph = (text: string) => `<p style="margin:0 0 16px">${text}</p>`;

export const aside = (text: string) => `<p style="margin:0 0 8px;font-size:14px;color:${muted}">${text}</p>`;

/** A button, and its URL as text for clients that do not show buttons. */
export function button(label: string, url: string): string {
  const href = escapeHtml(url);
  return `<p style="margin:0 0 16px"><a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:8px;background-color:${accent};color:#ffffff;font-weight:600;text-decoration:none">${label}</a></p>
<p style="margin:0 0 16px;font-size:14px;word-break:break-all"><a href="${href}" style="color:${accent}">${href}</a></p>`;
}

export function html(subject: string, blocks: string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light only">
<title>${subject}</title>
</head>
<body style="margin:0;padding:0;background-color:#f3f5f4">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f3f5f4">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:480px;${font};font-size:16px;line-height:1.5;color:${ink};text-align:left">
<tr><td style="padding:0 4px 16px;font-weight:600;color:${accent}">Latchkey</td></tr>
<tr><td bgcolor="#ffffff" style="padding:28px 28px 12px;border:1px solid #dfe4e2;border-radius:12px;background-color:#ffffff">
${blocks.join("\n")}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}
