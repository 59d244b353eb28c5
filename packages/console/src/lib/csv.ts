/**
 * RFC 4180. What a spreadsheet would run as a formula gets an apostrophe before it: names are hostile text. That goes for
 * every line of a cell, as some programs read lines without regard to quotes, and for the wide signs of East Asian
 * keyboards, which some take for the narrow ones.
 */
export function toCsv(header: readonly string[], rows: Iterable<readonly (string | number | undefined)[]>): string {
  const lines = [header.map(cell).join(',')];
  for (const row of rows) lines.push(row.map((value) => cell(value === undefined ? '' : String(value))).join(','));
  return `${lines.join('\r\n')}\r\n`;
}

const FORMULA = /^(?=(?:[^\S\r\n]|\p{Cf})*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|\t)/gmu;

function cell(text: string): string {
  const harmless = /^-?[0-9.]+$/.test(text) ? text : text.replace(FORMULA, "'").replace(/^(?=[\r\n])/, "'");
  return /[",\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** Hands a file to the browser's downloads. */
export function download(fileName: string, content: string, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
