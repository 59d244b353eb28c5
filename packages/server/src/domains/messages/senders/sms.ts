import type { SmsContent } from '../message.ts';
import { type Delivery, type HandOver, type Sender, toLine } from './sender.ts';

const REQUESTS_MAX = 8;
const ANSWER_MS_MAX = 15_000;
const ANSWER_BYTES_MAX = 16 * 1024;
/** The operator's to mend, or a matter of time; every other 4xx is about the message. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 408, 425, 429]);

export interface SmsProvider {
  /** The full address of the Messages resource. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly from: string;
}

/** Text messages through a provider with the Messages API of Twilio (protocol/messages 2.4). */
export class SmsSender implements Sender<SmsContent> {
  readonly slots = REQUESTS_MAX;
  readonly #url: string;
  readonly #authorization: string;
  readonly #from: string;

  constructor({ url, user, password, from }: SmsProvider) {
    this.#url = url;
    this.#authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    this.#from = from;
  }

  async send({ content }: Delivery<SmsContent>, signal: AbortSignal): Promise<HandOver> {
    const timeout = new AbortController();
    const end = (): void => timeout.abort();
    const timer = setTimeout(end, ANSWER_MS_MAX).unref();
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    try {
      const answer = await fetch(this.#url, {
        method: 'POST',
        headers: { authorization: this.#authorization, accept: 'application/json' },
        body: new URLSearchParams({ From: this.#from, To: content.to, Body: content.text }),
        // Nobody but the operator's own provider gets message and password.
        redirect: 'manual',
        signal: timeout.signal,
      });
      return classify(answer.status, await readSome(answer));
    } catch (error) {
      return { kind: 'deferred', diagnostic: timeout.signal.aborted ? 'ETIMEDOUT' : codeOf(error) };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  close(): void {}
}

function classify(status: number, text: string): HandOver {
  const response = toLine(`${status} ${text}`);
  if (status >= 200 && status < 300) return { kind: 'sent', response };
  const isRefused = status >= 400 && status < 500 && !TRANSIENT_STATUSES.has(status);
  return { kind: isRefused ? 'refused' : 'deferred', diagnostic: String(status), response };
}

/** The beginning of an answer; what comes behind it is not read. An answer that breaks off has still answered. */
async function readSome(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = answer.body?.getReader();
  try {
    for (;;) {
      const part = await reader?.read();
      if (part === undefined || part.done) break;
      chunks.push(part.value);
      bytes += part.value.length;
      if (bytes >= ANSWER_BYTES_MAX) break;
    }
  } catch {
    // The status is what counts.
  }
  await reader?.cancel().catch(() => {});
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString('utf8');
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'ECONNECTION';
}
