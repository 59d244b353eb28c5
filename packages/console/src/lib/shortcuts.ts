/** A key with what is held, in one spelling: `a`, `?`, `ctrl+k`, `ctrl+enter`, `escape`. */
export function keyOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): string {
  const name = event.key === ' ' ? 'space' : event.key.toLowerCase();
  const held = [(event.ctrlKey || event.metaKey) && 'ctrl', event.altKey && 'alt'].filter(Boolean);
  return [...held, name].join('+');
}

/** Whether keys belong to a field. */
export function isTyping(target: EventTarget | null): boolean {
  const element = target as Partial<HTMLElement> | null;
  if (element?.isContentEditable) return true;
  const name = element?.tagName ?? '';
  if (name === 'TEXTAREA' || name === 'SELECT') return true;
  return name === 'INPUT' && !['checkbox', 'radio', 'button'].includes((element as HTMLInputElement).type);
}

/** The keys, as the page that lists them shows them. */
export const KEYS: readonly { readonly keys: readonly string[]; readonly text: string }[] = [
  { keys: ['Ctrl', 'K'], text: 'Search or jump to a page' },
  { keys: ['J', 'K'], text: 'Move down and up in a list' },
  { keys: ['Enter'], text: 'Open' },
  { keys: ['A'], text: 'Approve: opens the confirmation' },
  { keys: ['R'], text: 'Reject: opens the confirmation' },
  { keys: ['Ctrl', 'Enter'], text: 'Act, in a confirmation' },
  { keys: ['F'], text: 'Fields' },
  { keys: ['B'], text: 'Bytes' },
  { keys: ['C'], text: 'Copy the address' },
  { keys: ['/'], text: 'Filter the list' },
  { keys: ['G', 'I'], text: 'Go to the inbox' },
  { keys: ['G', 'A'], text: 'Go to activities' },
  { keys: ['G', 'W'], text: 'Go to wallets' },
  { keys: ['G', 'P'], text: 'Go to policies' },
  { keys: ['?'], text: 'This list' },
  { keys: ['Esc'], text: 'Close' },
];
