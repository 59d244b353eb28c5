// Logs users in and signs them up as clients do, in a process of its own. What a client computes beforehand is computed
// before the clock starts; what it can only compute with an answer in hand is part of the time.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { loginClientSignature, signupClientSignature } from '../../packages/sdk/src/login/client-signature.ts';
import { encryptOtpCode } from '../../packages/sdk/src/login/encrypt-otp-code.ts';
import { fetchServiceKeys, type ServiceKey } from '../../packages/sdk/src/service-keys.ts';
import { SessionKey } from '../../packages/sdk/src/session-key.ts';
import { newPasskey } from '../../packages/server/test/fixtures/passkey.ts';
import { answerParent } from '../child.ts';
import type { Counted } from '../load/generator.ts';
import { ethereum } from '../stage.ts';

export type DriverQuestion =
  | { readonly ask: 'mail' }
  | {
      readonly ask: 'window';
      readonly flow: 'sign-up' | 'otp';
      readonly baseUrl: string;
      readonly configId: string;
      readonly connections: number;
      readonly seconds: number;
      readonly prepared: number;
    };

export type DriverAnswer = { readonly smtpUrl: string } | Counted;

const CODE = /\b([0-9]{6})\b/;
const waiting = new Map<string, (code: string) => void>();
let users = 0;
let keys: Promise<ServiceKey[]> | undefined;

answerParent(async (question: DriverQuestion): Promise<DriverAnswer> => {
  if (question.ask === 'mail') return { smtpUrl: await receiveMail() };
  const { baseUrl, configId, flow, connections, seconds, prepared } = question;
  const call = async (name: string, body: unknown): Promise<Record<string, string>> => {
    const response = await fetch(`${baseUrl}/v1/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'x-auth-proxy-config-id': configId },
    });
    const answer = (await response.json()) as Record<string, string>;
    if (!response.ok) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer;
  };
  keys ??= fetchServiceKeys(baseUrl);
  const serviceKeys = await keys;
  const runs =
    flow === 'sign-up'
      ? Array.from({ length: prepared }, () => signUp(call))
      : await Promise.all(Array.from({ length: connections }, () => codeLogin(call, serviceKeys)));
  return await timed(flow === 'sign-up' ? runs : undefined, runs, connections, seconds);
});

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
async function codeLogin(call: Call, serviceKeys: readonly ServiceKey[]): Promise<Run> {
  users += 1;
  const contact = `user-${process.pid}-${users}@mail.example`;
  const verify = async (publicKey: string): Promise<string> => {
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
  const verificationToken = await verify(first.publicKey);
  const lists = { apiKeys: [], authenticators: [], oauthProviders: [] };
  const request = { userEmail: contact, ...lists };
  const clientSignature = await signupClientSignature({ verificationToken, key: first, request });
  await call('signup_v2', { ...request, verificationToken, clientSignature });
  return async () => {
    const key = await SessionKey.generate();
    const token = await verify(key.publicKey);
    const clientSignature = await loginClientSignature({ verificationToken: token, key });
    return await call('otp_login_v2', { verificationToken: token, publicKey: key.publicKey, clientSignature });
  };
}

/** A mail server that reads codes. */
async function receiveMail(): Promise<string> {
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
        for (const { address } of session.envelope.rcptTo) if (code !== undefined) waiting.get(address)?.(code);
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}?ignoreTLS=true`;
}
