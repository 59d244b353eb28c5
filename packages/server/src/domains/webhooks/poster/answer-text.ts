const ANSWER_BYTES_MAX = 1024;

/** Control characters but tab and line feed, and those that turn the direction of what follows: terminals obey them. */
const OBEYED = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** The beginning of an answer as text that may be stored and shown. */
export function answerText(body: Buffer): string {
  return decode(body).replaceAll('\r\n', '\n').replace(OBEYED, '\ufffd');
}

function decode(body: Buffer): string {
  if (body.length <= ANSWER_BYTES_MAX) return body.toString('utf8');
  // As part of a stream, so that a character that the cut goes through is left out and not replaced.
  return new TextDecoder().decode(body.subarray(0, ANSWER_BYTES_MAX), { stream: true });
}
