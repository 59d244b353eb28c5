import { cx } from '../lib/cx.ts';
import styles from './icon.module.css';

/** Strokes on a grid of 20; no icon carries meaning alone. */
const PATHS = {
  activity: 'M2.5 10.5h3.2L8 4.5l4 11 2.2-5.5h3.3',
  'arrow-down': 'M10 4v12m0 0 4.5-4.5M10 16l-4.5-4.5',
  'arrow-right': 'M4 10h12m0 0-4.5-4.5M16 10l-4.5 4.5',
  bars: 'M2.5 16.5h15M5 16.5V11m3.3 5.5v-10m3.4 10V9.5m3.3 7V4',
  bell: 'M5 14V9a5 5 0 0 1 10 0v5l1.5 1.5h-13L5 14Zm3.3 3.2a2 2 0 0 0 3.4 0',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  'check-circle': 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0ZM7 10.3l2.2 2.2L13.2 8',
  'chevron-down': 'm5.5 8 4.5 4.5L14.5 8',
  'chevron-left': 'M12 5.5 7.5 10l4.5 4.5',
  'chevron-right': 'M8 5.5 12.5 10 8 14.5',
  'chevron-up': 'M5.5 12 10 7.5l4.5 4.5',
  chevrons: 'm6.5 7.5 3.5-3.5 3.5 3.5m-7 5 3.5 3.5 3.5-3.5',
  clock: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0ZM10 6v4l2.7 1.8',
  code: 'M7 5.5 2.5 10 7 14.5m6-9 4.5 4.5-4.5 4.5',
  copy: 'M7 7h9.5v9.5H7V7Zm-1.5 6h-2V3.5H13v2',
  cross: 'M5 5l10 10M15 5 5 15',
  'cross-circle': 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0ZM7.6 7.6l4.8 4.8m0-4.8-4.8 4.8',
  download: 'M10 3.5v9m0 0 3.5-3.5M10 12.5 6.5 9M3.5 16.5h13',
  edit: 'm4 16 .7-3.3L13.5 4l2.5 2.5-8.7 8.8L4 16Z',
  external: 'M11.5 4H16v4.5M16 4 9 11M13.5 11.5V16h-9.5V6.5h4.5',
  eye: 'M2.5 10S5.2 5 10 5s7.5 5 7.5 5-2.7 5-7.5 5-7.5-5-7.5-5Zm10 0a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Z',
  file: 'M5 2.5h6.5L15 6v11.5H5v-15Zm6 .2V6.5h4',
  filter: 'M3.5 5.5h13M6 10h8m-5.5 4.5h3',
  info: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0Zm-7-.8v4M10 6.6v.2',
  inbox: 'M2.8 11.5 5 4.5h10l2.2 7v4.5H2.8v-4.5Zm0 0h4a3.2 3.2 0 0 0 6.4 0h4',
  key: 'M9.3 13.2a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0Zm-.9-2.3 7.6-7.6m-3 3L15.3 8.6M10.9 8.4l1.6 1.6',
  link: 'M8.5 11.5 11.5 8.5M9 6.5l2-2a3.2 3.2 0 0 1 4.5 4.5l-2 2m-2.5 2.5-2 2A3.2 3.2 0 0 1 4.5 11l2-2',
  logout: 'M12.5 13.5v3h-9v-13h9v3M7.5 10h9.5m0 0-3-3m3 3-3 3',
  menu: 'M3.5 5.5h13m-13 4.5h13m-13 4.5h13',
  minus: 'M5 10h10',
  more: 'M4.5 10h.01M10 10h.01m5.49 0h.01',
  octagon: 'M7 3h6l4 4v6l-4 4H7l-4-4V7l4-4Zm3 3.5V11m0 2.4v.2',
  passkey:
    'M11 6.4a3.2 3.2 0 1 1-6.4 0 3.2 3.2 0 0 1 6.4 0ZM2.5 16.5v-1.2c0-2.6 2-4.1 5.3-4.1 1 0 1.8.1 2.5.4M17.2 9.6a2.1 2.1 0 1 1-4.2 0 2.1 2.1 0 0 1 4.2 0Zm-2.1 2.1v5.6m0-2.8h1.7',
  people:
    'M9.5 6.7a2.7 2.7 0 1 1-5.4 0 2.7 2.7 0 0 1 5.4 0ZM2 16v-.8c0-2.3 1.8-3.7 4.8-3.7s4.8 1.4 4.8 3.7v.8M13 4.2a2.7 2.7 0 0 1 0 5m1.2 2.6c2.3.3 3.8 1.5 3.8 3.4v.8',
  person: 'M13 6.7a3 3 0 1 1-6 0 3 3 0 0 1 6 0ZM4 16.5v-.8c0-2.6 2.2-4 6-4s6 1.4 6 4v.8',
  play: 'M6.5 4.5v11l9-5.5-9-5.5Z',
  plus: 'M10 4v12M4 10h12',
  qr: 'M3.5 3.5h5v5h-5v-5Zm8 0h5v5h-5v-5Zm-8 8h5v5h-5v-5Zm8 0h2v2h-2v-2Zm3 3h2v2h-2v-2Zm2-3v0m-5 5v0',
  question: 'M17 10a7 7 0 1 1-14 0 7 7 0 0 1 14 0ZM8 8.2a2.1 2.1 0 1 1 2.9 2c-.6.3-.9.7-.9 1.3m0 2v.2',
  refresh: 'M16 10a6 6 0 1 1-1.9-4.4M16 3v3.2h-3.2',
  search: 'M13 8.5a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0ZM11.8 11.8 16.5 16.5',
  send: 'm17 3-6.5 14.2-2.2-6-6-2.3L17 3Zm-8.7 8.2L17 3',
  shield: 'M10 2.8 16 5v4.8c0 3.6-2.5 6-6 7.4-3.5-1.4-6-3.8-6-7.4V5l6-2.2Z',
  square: 'M4 4h12v12H4V4Z',
  tag: 'M3.5 3.5h6.5l7 7-6.5 6.5-7-7V3.5ZM7 7v.1',
  trash: 'M4 5.5h12M8 5.5V3.5h4v2M5.5 5.5l.7 11h7.6l.7-11M8.3 8.5v5M11.7 8.5v5',
  tree: 'M8 3h4v4H8V3ZM2.5 13h4v4h-4v-4Zm11 0h4v4h-4v-4ZM10 7v3m0 0H4.5v3M10 10h5.5v3',
  trend: 'M3 14.5 8 9l3 3 6-6.5m0 0h-4.5M17 5.5V10',
  triangle: 'M10 3.2 17.5 16.5h-15L10 3.2Zm0 5v4m0 2v.2',
  upload: 'M10 12.5v-9m0 0L6.5 7M10 3.5 13.5 7M3.5 16.5h13',
  wallet: 'M15.5 6.5V4H3.5a1 1 0 0 0 0 2.5h14v10h-14a1 1 0 0 1-1-1v-10M14 11.4v.2',
  webhook:
    'M8.2 6.9a2.6 2.6 0 1 1 4.3 1.9l2.2 3.7m-4.7-5.9L7.2 12m7.5.5a2.5 2.5 0 1 1-2.4 2.7H7.2m0 0a2.6 2.6 0 1 1-2.1-2.7',
} as const;

export type IconName = keyof typeof PATHS;

export interface IconProps {
  readonly name: IconName;
  /** 16 unless told. */
  readonly size?: 14 | 16 | 18 | 20 | 24;
  /** Only where no text says the same. */
  readonly label?: string;
  readonly className?: string | undefined;
}

export function Icon({ name, size = 16, label, className }: IconProps) {
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: named where it has a label, else hidden
    <svg
      className={cx(styles.icon, className)}
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2.2 : size >= 20 ? 1.4 : 1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
