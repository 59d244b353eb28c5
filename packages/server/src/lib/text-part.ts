import Type from 'typebox';

/** A piece of a sentence. The bold pieces alone must carry it. */
export interface TextPart {
  readonly text: string;
  readonly strong?: true;
  /** Somebody wrote it: its direction is isolated and nothing in it is markup. */
  readonly userText?: true;
  /** The whole address that `text` shows shortened or by name. */
  readonly address?: string;
  readonly caip2?: string;
}

export const TextPartShape = Type.Object({
  text: Type.String(),
  strong: Type.Optional(Type.Literal(true)),
  userText: Type.Optional(Type.Literal(true)),
  address: Type.Optional(Type.String()),
  caip2: Type.Optional(Type.String()),
});

export const plain = (text: string): TextPart => ({ text });
export const strong = (text: string): TextPart => ({ text, strong: true });
/** A name that somebody chose. */
export const userText = (text: string): TextPart => ({ text, strong: true, userText: true });

/** The sentence as one text: the accessible name, the terminal, the mail. */
export const textOf = (parts: readonly TextPart[]): string => parts.map((part) => part.text).join('');
