/** RFC 4180. A cell that a spreadsheet would run as a formula gets an apostrophe before it: names are hostile text. */
export function toCsv(header: readonly string[], rows: Iterable<readonly (string | number | undefined)[]>): string {
  const lines = [header.map(cell).join(',')];
  for (const row of rows) lines.push(row.map((value) => cell(value === undefined ? '' : String(value))).join(','));
  return `${lines.join('\r\n')}\r\n`;
}

function cell(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) && !/^-?[0-9.]+$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
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
