/** A text of others with everything invisible written out, so that it shows what it is and turns nothing around. */
export const plain = (text: string): string =>
  text.replace(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (found) => `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
