import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RootCredentials } from '../../packages/server/src/credentials-file.ts';
import { createSubOrganization, newKeyPair } from '../../packages/server/test/harness/client.ts';
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { Child, cpuSeconds, machineCpuSeconds } from '../child.ts';
import { type Comparison, compare } from '../compare.ts';
import { CryptoFloor } from '../floors/crypto.ts';
import type { BareWork } from '../floors/works.ts';
import type { Counted } from '../load/generator.ts';
import type { Load, Measured } from '../load/load.ts';
import type { Options } from '../options.ts';
import { Service } from '../service.ts';
import { createDatabase, type DatabaseKind, submitLoad } from '../stage.ts';
import type { DriverAnswer, DriverQuestion } from './driver.ts';

/** A login or a sign-up beside the cryptography that it cannot do without. */
export interface LoginFigure extends Comparison {
  readonly title: string;
  readonly beside: string;
}

interface Scene {
  readonly name: string;
  readonly flow: 'stamp_login' | 'sign-up' | 'otp';
  readonly floor: BareWork;
  readonly connections: number;
}

const FLOORS = { stamp_login: 'login', 'sign-up': 'sign-up', otp: 'otp' } as const;
const NAMES = {
  stamp_login: 'stamp_login',
  'sign-up': 'sign-up with passkey and wallet',
  otp: 'code asked for to session',
} as const;
const SCENES: readonly Scene[] = (['stamp_login', 'sign-up', 'otp'] as const).flatMap((flow) =>
  [1, 32].map((connections) => ({
    name: `${NAMES[flow]} ${connections}`,
    flow,
    floor: FLOORS[flow],
    connections,
  })),
);
const SESSION_KEYS = 64;
/** Sign-ups that are computed before the clock starts, for each second of it. */
const PREPARED_PER_SECOND = 600;

export const LOGIN_NAMES = SCENES.map(({ name }) => name);

export const loginTitle = (kind: DatabaseKind, name: string): string => `${kind} logins ${name}`;

export async function measureLogins(
  kind: DatabaseKind,
  names: readonly string[],
  load: Load,
  options: Options,
  tell: (figure: LoginFigure) => void,
): Promise<LoginFigure[]> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using driver = new Child<DriverQuestion, DriverAnswer>(new URL('./driver.ts', import.meta.url));
  await using crypto = new CryptoFloor();
  const { smtpUrl } = (await driver.ask({ ask: 'mail' })) as { smtpUrl: string };
  await using service = new Service(postgres && (await createDatabase(postgres, 'logins')));
  // As many as there are: the limits are for strangers, and this is one.
  await service.start({
    env: {
      CUSTOS_SMTP_URL: smtpUrl,
      CUSTOS_MAIL_FROM: 'bench@mail.example',
      CUSTOS_OTP_REQUESTS: '0',
      CUSTOS_OTP_ORGANIZATION_REQUESTS: '0',
      CUSTOS_PROXY_CODES_PER_MINUTE: '0',
      CUSTOS_PROXY_REQUESTS_PER_MINUTE: '0',
    },
  });
  const user = await createSubOrganization(service.root, 'Somebody');
  const sessions = Array.from({ length: SESSION_KEYS }, () => ({ publicKey: newKeyPair().publicKey }));
  const logins = submitLoad('stamp_login', user, sessions);
  const credentials = readFileSync(join(service.dataDir, 'root-credentials.json'), 'utf8');
  const { authProxyConfigId: configId } = JSON.parse(credentials) as RootCredentials;
  const baseUrl = `http://127.0.0.1:${service.target.port}`;

  const drive = async (flow: 'sign-up' | 'otp', connections: number, seconds: number): Promise<Measured> => {
    const { pid } = service.target;
    const before = { service: cpuSeconds(pid), driver: cpuSeconds(driver.pid), machine: machineCpuSeconds() };
    const prepared = Math.ceil(PREPARED_PER_SECOND * seconds);
    const counted = (await driver.ask({
      ask: 'window',
      flow,
      baseUrl,
      configId,
      connections,
      seconds,
      prepared,
    })) as Counted;
    const cpu = cpuSeconds(pid) - before.service;
    const others = machineCpuSeconds() - before.machine - cpu - (cpuSeconds(driver.pid) - before.driver);
    const { requests, p50Us, p99Us, sample } = counted;
    return {
      rate: requests / counted.seconds,
      p50Us,
      p99Us,
      cpuUs: (cpu * 1e6) / requests,
      otherCores: Math.max(0, others / counted.seconds),
      sample,
    };
  };

  const figures: LoginFigure[] = [];
  for (const { name, flow, floor, connections } of SCENES.filter((scene) => names.includes(scene.name))) {
    const run = (seconds: number): Promise<Measured> =>
      flow === 'stamp_login'
        ? load.run(service.target, logins, connections, seconds)
        : drive(flow, connections, seconds);
    const bare = (seconds: number): Promise<Measured> =>
      crypto.run({ work: floor, times: 1 }, 'bare', connections, seconds);
    const comparison = await compare(bare, run, options);
    const figure = { title: loginTitle(kind, name), beside: 'bare cryptography', ...comparison };
    figures.push(figure);
    tell(figure);
  }
  return figures;
}
