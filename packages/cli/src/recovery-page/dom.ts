type Child = Node | string | false | undefined;

interface Properties {
  readonly class?: string;
  readonly onclick?: (event: MouseEvent) => void;
  /** Anything else is an attribute; false leaves it out. */
  readonly [name: string]: unknown;
}

/** An element. Texts become text nodes, so nothing of a kit is ever read as HTML. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value as EventListener);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Strokes on a grid of 20, as in the console; no icon carries meaning alone. */
const ICONS = {
  check: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0ZM7 10.3l2.2 2.2L13.2 8',
  copy: 'M7 7h9.5v9.5H7V7Zm-1.5 6h-2V3.5H13v2',
  cross: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0ZM7.6 7.6l4.8 4.8m0-4.8-4.8 4.8',
  eye: 'M2.5 10S5.2 5 10 5s7.5 5 7.5 5-2.7 5-7.5 5-7.5-5-7.5-5Zm10 0a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Z',
  file: 'M5 2.5h6.5L15 6v11.5H5v-15Zm6 .2V6.5h4',
  info: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0Zm-7-.8v4M10 6.6v.2',
  key: 'M9.3 13.2a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0Zm-.9-2.3 7.6-7.6m-3 3L15.3 8.6M10.9 8.4l1.6 1.6',
  octagon: 'M7 3h6l4 4v6l-4 4H7l-4-4V7l4-4Zm3 3.5V11m0 2.4v.2',
  question: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0ZM8 8.2a2.1 2.1 0 1 1 2.9 2c-.6.3-.9.7-.9 1.3m0 2v.2',
  triangle: 'M10 3.2 17.5 16.5h-15L10 3.2Zm0 5v4m0 2v.2',
} as const;

export type IconName = keyof typeof ICONS;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [key, value] of Object.entries({
    viewBox: '0 0 20 20',
    width: '16',
    height: '16',
    'aria-hidden': 'true',
  })) {
    svg.setAttribute(key, value);
  }
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

const TONES = { allow: 'check', wait: 'triangle', deny: 'octagon', info: 'info' } as const satisfies Record<
  string,
  IconName
>;
export type Tone = keyof typeof TONES;

/** A note: its bold first sentence is enough. */
export const note = (tone: Tone, first: string, ...rest: readonly Child[]): HTMLElement =>
  h('div', { class: `note ${tone}` }, icon(TONES[tone]), h('p', {}, h('b', {}, first), ' ', ...rest));

export interface ButtonOptions {
  readonly look?: 'ink' | 'outline' | 'quiet';
  /** Its accessible name, where the words do not say what it is about. */
  readonly label?: string;
}

export const button = (words: string, onclick: () => void, { look = 'outline', label }: ButtonOptions = {}) =>
  h('button', { type: 'button', class: `button ${look}`, 'aria-label': label, onclick: () => onclick() }, words);

/** Tells readers of the screen what has happened; once in a page. */
export const announcer = h('p', { class: 'hidden', role: 'status', 'aria-live': 'polite' });

export function announce(text: string): void {
  announcer.textContent = text;
}

const COPIED_MS = 2000;

/** Copies all of a text. The clipboard is the machine's, and others may read it. */
export function copyButton(text: string, label: string): HTMLButtonElement {
  const made = h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label }, icon('copy'));
  made.addEventListener('click', () => {
    const told = (outcome: string): void => {
      announce(outcome);
      made.title = outcome;
      made.replaceChildren(icon(outcome === 'Copied.' ? 'check' : 'cross'));
      setTimeout(() => {
        made.title = label;
        made.replaceChildren(icon('copy'));
      }, COPIED_MS);
    };
    copy(text).then(
      () => told('Copied.'),
      () => told('The browser did not allow copying: select the text instead.'),
    );
  });
  return made;
}

async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return await navigator.clipboard.writeText(text);
  // Browsers that do not take a file for a safe place have the older way only.
  const area = h('textarea', { class: 'hidden', 'aria-hidden': 'true' });
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('not allowed');
}
