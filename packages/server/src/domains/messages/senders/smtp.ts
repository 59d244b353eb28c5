import type { SMTPPoolOptions } from 'nodemailer/lib/smtp-pool';
import { isLoopbackHost } from '../../../config/message-ways.ts';
import { type MailContent, messageIdOf } from '../message.ts';
import { type Delivery, type HandOver, type Sender, toLine } from './sender.ts';

const CONNECTIONS_MAX = 8;
const CONNECT_TIMEOUT_MS = 10_000;
const SILENCE_MS_MAX = 30_000;
const IDLE_MS_MAX = 30_000;
const RESPONSE_BYTES_MAX = 64 * 1024;

type Transport = Awaited<ReturnType<typeof openTransport>>;

/** Mail through the operator's server. Connections are kept open between mails, each with one mail at a time. */
export class SmtpSender implements Sender<MailContent> {
  readonly slots = CONNECTIONS_MAX;
  readonly #options: SMTPPoolOptions;
  readonly #idle: Transport[] = [];
  #closed = false;

  constructor(url: string) {
    this.#options = smtpOptions(url);
  }

  async send(delivery: Delivery<MailContent>, signal: AbortSignal): Promise<HandOver> {
    const transport = this.#idle.pop() ?? (await openTransport(this.#options));
    const breakOff = (): void => transport.close({ force: true });
    signal.addEventListener('abort', breakOff);
    try {
      if (signal.aborted) return { kind: 'deferred', diagnostic: 'ABORTED' };
      const { response } = await transport.sendMail(toMail(delivery));
      return { kind: 'sent', response: toLine(response) };
    } catch (error) {
      return classify(error as SmtpError);
    } finally {
      signal.removeEventListener('abort', breakOff);
      if (this.#closed) transport.close();
      else if (!signal.aborted) this.#idle.push(transport);
    }
  }

  close(): void {
    this.#closed = true;
    for (const transport of this.#idle.splice(0)) transport.close();
  }
}

async function openTransport(options: SMTPPoolOptions) {
  // Loaded with the first mail: a start need not wait for it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ ...options, pool: true });
  // Whoever sends is told; an 'error' that nobody hears would end the process.
  transport.on('error', () => {});
  return transport;
}

/**
 * What the address says: smtps is TLS from the start; smtp becomes TLS where the server offers it, must become so with
 * `?requireTLS=true` or a password, and never does with `?ignoreTLS=true`. Nothing else of the address is an option, so
 * that none can make the library print mails.
 */
function smtpOptions(text: string): SMTPPoolOptions {
  const url = new URL(text);
  const isSet = (name: string): boolean => url.searchParams.get(name) === 'true';
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    ...(url.port !== '' && { port: Number(url.port) }),
    secure: url.protocol === 'smtps:',
    // A password is not sent in the clear because somebody on the way left the offer of TLS out.
    requireTLS: isSet('requireTLS') || (url.username !== '' && !isSet('ignoreTLS') && !isLoopbackHost(url.hostname)),
    ignoreTLS: isSet('ignoreTLS'),
    ...(url.username !== '' && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    maxConnections: 1,
    maxMessages: 100,
    // A kept connection that the server has closed costs no attempt: not a byte of the mail was sent.
    maxRequeues: 1,
    idleTimeout: IDLE_MS_MAX,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_MS_MAX,
    maxResponseSize: RESPONSE_BYTES_MAX,
    logger: false,
  };
}

function toMail({ id, content, createdAtMs }: Delivery<MailContent>) {
  const { to, subject, text, html, from, replyTo } = content;
  return {
    // As objects: a text would be parsed as a list of addresses.
    from: { ...from },
    to: { name: '', address: to },
    ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
    subject,
    text,
    html,
    messageId: `<${messageIdOf(id, from)}>`,
    date: new Date(createdAtMs),
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

/**
 * Final is only what the server said of this mail. That a login is refused or that nobody greets is the operator's to
 * mend, and the mail waits for that; 503 is about the session and not about the mail.
 */
function classify({ code, responseCode, response }: SmtpError): HandOver {
  const isAboutMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const isPermanent = responseCode === undefined || (responseCode >= 500 && responseCode !== 503);
  return {
    kind: isAboutMail && isPermanent ? 'refused' : 'deferred',
    diagnostic: responseCode === undefined ? (code ?? 'UNKNOWN') : String(responseCode),
    response: response === undefined ? undefined : toLine(response),
  };
}
