/**
 * Undefined for what is no URL. Not by `URL.canParse`: once it is optimised, Node.js 20 has it refuse letters such as ü,
 * which it then reads as Latin-1.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
