/** Undefined for what is no URL. Not by `URL.canParse`, which in Node.js 20 comes to refuse letters such as ü. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
