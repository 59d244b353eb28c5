// Logs users in and signs them up as clients do, in a process of its own. What a client computes beforehand is computed
// before the clock starts; what it can only compute with an answer in hand is part of the time.
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import { loginClientSignature, signupClientSignature } from '../../packages/sdk/src/login/client-signature.ts';
import { encryptOtpCode } from '../../packages/sdk/src/login/encrypt-otp-code.ts';
import { fetchServiceKeys, type ServiceKey } from '../../packages/sdk/src/service-keys.ts';
import { SessionKey } from '../../packages/sdk/src/session-key.ts';
import { newPasskey } from '../../packages/server/test/fixtures/passkey.ts';
import { send } from '../../packages/server/test/harness/client.ts';
import { answerParent } from '../child.ts';
import type { Counted } from '../load/generator.ts';
import { ethereum } from '../stage.ts';

interface Proxy {
  readonly baseUrl: string;
  readonly configId: string;
}

/** One call of a flow that is walked through, with the mail that it caused. */
export interface Step {
  readonly name: string;
  readonly answer: string;
  readonly mail: string | undefined;
}

export type DriverQuestion =
  | { readonly ask: 'mail' }
  /** Runs a flow up to the end of its next call, with a user who exists. */
  | ({ readonly ask: 'step'; readonly flow: Flow } & Proxy)
  | ({
      readonly ask: 'window';
      readonly flow: Flow;
      readonly connections: number;
      readonly seconds: number;
      readonly prepared: number;
    } & Proxy);

export type DriverAnswer = { readonly smtpPort: number } | Step | Counted;
export type Flow = 'sign-up' | 'otp';

const BUSY = 503;
const RETRY_MS = 50;
const MAIL_LOOK_MS = 5;
const CODE = /\b([0-9]{6})\b/;
const waiting = new Map<string, (code: string) => void>();
const mails = new Map<string, string>();
let users = 0;
let keys: Promise<ServiceKey[]> | undefined;
/** Users who exist, by the server that knows them. */
const logins = new Map<string, Run[]>();

answerParent(async (question: DriverQuestion): Promise<DriverAnswer> => {
  if (question.ask === 'mail') return { smtpPort: await receiveMail() };
  if (question.ask === 'step') return await nextStep(question);
  const { flow, connections, seconds, prepared, baseUrl } = question;
  const call = caller(question);
  if (flow === 'sign-up') {
    const runs = Array.from({ length: prepared }, () => signUp(call));
    return await timed(runs, runs, connections, seconds);
  }
  const known = logins.get(baseUrl) ?? [];
  logins.set(baseUrl, known);
  while (known.length < connections) known.push(await codeLogin(call, await serviceKeys(baseUrl)));
  return await timed(undefined, known, connections, seconds);
});

/** Of the service alone: a floor has none, and sends what the service signed. */
const serviceKeys = (baseUrl: string): Promise<ServiceKey[]> => {
  keys ??= fetchServiceKeys(baseUrl);
  return keys;
};

const caller =
  ({ baseUrl, configId }: Proxy): Call =>
  async (name, body) => {
    const [text, headers] = [JSON.stringify(body), { 'x-auth-proxy-config-id': configId }];
    let { status, body: answer } = await send(baseUrl, `/v1/${name}`, text, headers);
    // The same bytes again, as a client would; meanwhile its time goes on.
    while (status === BUSY) {
      await sleep(RETRY_MS);
      ({ status, body: answer } = await send(baseUrl, `/v1/${name}`, text, headers));
    }
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer as Record<string, string>;
  };

const asked: ((step: Step) => void)[] = [];
let wake: () => void = () => {};
let isWalking = false;
/** A user who exists when the second walk begins. */
let walker: Run | undefined;

/** Each call of the flow waits until it is asked for. */
async function nextStep({ flow, ...proxy }: Extract<DriverQuestion, { ask: 'step' }>): Promise<Step> {
  const call = caller(proxy);
  const stepwise: Call = async (name, body) => {
    while (asked.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const tell = asked.shift();
    const { contact = '' } = body as { contact?: string };
    mails.delete(contact);
    const answer = await call(name, body);
    while (contact !== '' && !mails.has(contact)) await sleep(MAIL_LOOK_MS);
    tell?.({ name, answer: JSON.stringify(answer), mail: mails.get(contact) });
    return answer;
  };
  if (!isWalking) {
    isWalking = true;
    if (flow === 'otp') walker ??= await codeLogin(call, await serviceKeys(proxy.baseUrl), stepwise);
    const run = flow === 'otp' && walker !== undefined ? walker : signUp(stepwise);
    void run().then(() => {
      isWalking = false;
    });
  }
  return await new Promise((resolve) => {
    asked.push(resolve);
    wake();
  });
}

type Call = (name: string, body: unknown) => Promise<Record<string, string>>;
type Run = () => Promise<unknown>;

/** Runs one after the other on each connection; those that can be done once are used up. */
async function timed(pool: Run[] | undefined, runs: Run[], connections: number, seconds: number): Promise<Counted> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      for (let from = performance.now(); from < endsAt; ) {
        const run = pool === undefined ? runs[index] : pool.pop();
        if (run === undefined) return;
        await run();
        const now = performance.now();
        latencies.push(now - from);
        from = now;
      }
    }),
  );
  const elapsed = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => (latencies[Math.floor(latencies.length * share)] ?? Number.NaN) * 1000;
  return { requests: latencies.length, seconds: elapsed, p50Us: at(0.5), p99Us: at(0.99), sample: '' };
}

/** A new user with a passkey and a wallet. */
function signUp(call: Call): Run {
  const { registration } = newPasskey('Passkey');
  const body = {
    userName: 'New user',
    apiKeys: [],
    authenticators: [registration],
    oauthProviders: [],
    wallet: { walletName: 'Wallet', accounts: [ethereum(0)] },
  };
  return () => call('signup_v2', body);
}

/** A user who exists: a code is asked for, read in the mail and sent back, and its token becomes a session. */
async function codeLogin(call: Call, serviceKeys: readonly ServiceKey[], loginCall = call): Promise<Run> {
  users += 1;
  const contact = `user-${process.pid}-${users}@mail.example`;
  const verify = async (publicKey: string, call: Call): Promise<string> => {
    const code = new Promise<string>((resolve) => waiting.set(contact, resolve));
    const { otpId, otpEncryptionTargetBundle: targetBundle } = await call('otp_init_v2', {
      otpType: 'OTP_TYPE_EMAIL',
      contact,
    });
    const encryptedOtpBundle = await encryptOtpCode({
      targetBundle: targetBundle as string,
      otpCode: await code,
      publicKey,
      serviceKeys,
    });
    return (await call('otp_verify_v2', { otpId, encryptedOtpBundle })).verificationToken as string;
  };
  const first = await SessionKey.generate();
  const verificationToken = await verify(first.publicKey, call);
  const lists = { apiKeys: [], authenticators: [], oauthProviders: [] };
  const request = { userEmail: contact, ...lists };
  const clientSignature = await signupClientSignature({ verificationToken, key: first, request });
  await call('signup_v2', { ...request, verificationToken, clientSignature });
  return async () => {
    const key = await SessionKey.generate();
    const token = await verify(key.publicKey, loginCall);
    const clientSignature = await loginClientSignature({ verificationToken: token, key });
    return await loginCall('otp_login_v2', { verificationToken: token, publicKey: key.publicKey, clientSignature });
  };
}

/** A mail server that reads codes. */
async function receiveMail(): Promise<number> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const mail = Buffer.concat(chunks).toString('utf8');
        const code = CODE.exec(mail.slice(mail.indexOf('\r\n\r\n')))?.[1];
        for (const { address } of session.envelope.rcptTo) {
          mails.set(address, mail);
          if (code !== undefined) waiting.get(address)?.(code);
        }
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.server.address() as AddressInfo).port;
}
