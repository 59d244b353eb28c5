/** Initials for an avatar: at most two letters of the first and the last word. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u).filter(Boolean);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '');
  return letters.join('').toLocaleUpperCase('en') || '?';
}

/** "Ada", "Ada and Grace", "Ada, Grace and Tomás"; `word` may be "or". */
export function listInWords(items: readonly string[], word = 'and'): string {
  if (items.length < 2) return items[0] ?? '';
  return `${items.slice(0, -1).join(', ')} ${word} ${items.at(-1)}`;
}

/** `ACTIVITY_TYPE_SIGN_TRANSACTION_V2` as "Sign transaction v2", for what has no sentence. */
export function plainType(type: string): string {
  const words = type
    .replace(/^ACTIVITY_TYPE_/, '')
    .toLowerCase()
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Characters that nobody sees, or that turn the direction of a text, written out. */
export function showInvisible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  );
}
