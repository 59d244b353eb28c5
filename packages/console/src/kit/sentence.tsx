import type { TextPart } from '../api/types.ts';
import { shortAddress } from '../lib/addresses.ts';
import { cx } from '../lib/cx.ts';
import styles from './sentence.module.css';

export interface SentenceProps {
  readonly parts: readonly TextPart[];
  /** 22 px where somebody decides, 14 in rows, 13 in facts. Row unless told. */
  readonly size?: 'decision' | 'row' | 'fact' | 'inherit';
  /** Heading or paragraph around it; a span unless told. */
  readonly as?: 'span' | 'p' | 'h2' | 'h3' | 'div';
  readonly id?: string;
  readonly className?: string | undefined;
}

/** Bold words alone carry it. What somebody wrote is isolated, so that its direction turns nothing else. */
export function Sentence({ parts, size = 'row', as: Element = 'span', id, className }: SentenceProps) {
  return (
    <Element className={cx(styles.sentence, styles[size], className)} {...(id && { id })}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence never move
        <Part key={index} part={part} />
      ))}
    </Element>
  );
}

function Part({ part }: { readonly part: TextPart }) {
  const isWhole = part.address === undefined || part.text !== part.address;
  const text = isWhole ? part.text : shortAddress(part.text);
  const content =
    part.address !== undefined ? (
      <bdi className={isWhole ? undefined : styles.address} title={part.address}>
        {text}
      </bdi>
    ) : part.userText ? (
      <bdi>{text}</bdi>
    ) : (
      text
    );
  return part.strong ? <b>{content}</b> : content;
}

/** The same as plain text, for accessible names. */
export const sentenceText = (parts: readonly TextPart[]): string => parts.map(({ text }) => text).join('');
