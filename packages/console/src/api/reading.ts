import type { Description } from './types.ts';

/** What a reader has before the eyes. A decision stands for this and nothing else. */
export function readingOf(fingerprint: string, description: Description): string {
  const { text, risk, marks, consequence, steps, fields, sender, recipients, bytes } = description;
  return JSON.stringify([
    fingerprint,
    text,
    risk,
    marks,
    consequence,
    steps,
    fields.map(({ label, value }) => [label, value.map((part) => part.text).join('')]),
    sender,
    // How often somebody was paid goes on changing; whether ever, and to whom, is what is read.
    recipients.map(({ address, name, paidCount, lookAlike }) => [address, name, paidCount > 0, lookAlike]),
    bytes?.digest,
  ]);
}
