import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RootCredentials } from '../../packages/server/src/credentials-file.ts';
import {
  createSubOrganization,
  createUser,
  newKeyPair,
  type TestClient,
} from '../../packages/server/test/harness/client.ts';
import { startPostgres } from '../../scripts/lib/postgres.mjs';
import { Child, cpuSeconds, machineCpuSeconds } from '../child.ts';
import { type Comparison, compare } from '../compare.ts';
import { MANY, SINGLE } from '../figures.ts';
import type { FloorDatabase } from '../floors/drivers.ts';
import type { BareWork } from '../floors/works.ts';
import { findWritten, snapshot, type Written } from '../floors/written.ts';
import type { Counted } from '../load/generator.ts';
import type { Load, Measured, Target } from '../load/load.ts';
import type { Workload } from '../load/requests.ts';
import type { Options } from '../options.ts';
import { Service, type StartOptions } from '../service.ts';
import {
  copyOf,
  createDatabase,
  type DatabaseKind,
  databaseOf,
  openFloorServer,
  recordSubmit,
  submitLoadOf,
} from '../stage.ts';
import type { DriverAnswer, DriverQuestion, Flow, Step } from './driver.ts';

/** A login or a sign-up beside a floor with its cryptography, its commits and its requests. */
export interface LoginFigure extends Comparison {
  readonly title: string;
  readonly connections: number;
  readonly beside: string;
}

interface Scene {
  readonly name: string;
  readonly flow: 'stamp_login' | Flow;
  readonly connections: number;
}

/** What each request asks of keys, by its last name. */
const WORKS: Readonly<Record<string, BareWork>> = {
  stamp_login: 'session',
  signup_v2: 'sign-up',
  otp_init_v2: 'otp-init',
  otp_verify_v2: 'otp-verify',
  otp_login_v2: 'otp-login',
};
/** The calls of one flow. */
const STEPS = { 'sign-up': 1, otp: 3 } as const;
const NAMES = {
  stamp_login: 'stamp_login',
  'sign-up': 'sign-up with passkey and wallet',
  otp: 'code asked for to session',
} as const;
const SCENES: readonly Scene[] = (['stamp_login', 'sign-up', 'otp'] as const).flatMap((flow) =>
  [SINGLE, MANY].map((connections) => ({
    name: `${NAMES[flow]} ${connections}`,
    flow,
    connections,
  })),
);
const BESIDE = 'HTTP + its cryptography + its writes';
/** What is written behind an answer is written by then. */
const SETTLE_MS = 300;
/** More than there are connections: one user's logins wait for each other, and people's do not. */
const USERS = 64;
/** As many as a user has devices, and they log in again and again. */
const SESSION_KEYS = 8;
/** Sign-ups that are computed before the clock starts, for each second of it. */
const PREPARED_PER_SECOND = 600;

/** One after the other they differ by the database no more than other requests do. */
export const loginNamesOn = (kind: DatabaseKind): string[] =>
  SCENES.filter(({ connections }) => kind === 'sqlite' || connections === MANY).map(({ name }) => name);

export const loginTitle = (kind: DatabaseKind, name: string): string => `${kind} logins ${name}`;

/** Everything that a login takes: the service, its clients, and whoever reads their mail. */
interface LoginStage {
  readonly postgres: Awaited<ReturnType<typeof startPostgres>> | undefined;
  readonly driver: Child<DriverQuestion, DriverAnswer>;
  readonly smtpPort: number;
  readonly service: Service;
  readonly env: Readonly<Record<string, string>>;
  readonly users: readonly [TestClient, ...TestClient[]];
  readonly logins: Workload;
  readonly proxyOf: (target: Target) => { readonly baseUrl: string; readonly configId: string };
  readonly measure: (target: Target, scene: Scene, seconds: number) => Promise<Measured>;
}

async function withLogins<T>(kind: DatabaseKind, load: Load, work: (stage: LoginStage) => Promise<T>): Promise<T> {
  await using postgres = kind === 'postgres' ? await startPostgres() : undefined;
  await using driver = new Child<DriverQuestion, DriverAnswer>(new URL('./driver.ts', import.meta.url));
  const { smtpPort } = (await driver.ask({ ask: 'mail' })) as { smtpPort: number };
  await using service = new Service(postgres && (await createDatabase(postgres, 'service')));
  // As many as there are: the limits are for strangers, and this is one.
  const env = {
    CUSTOS_SMTP_URL: `smtp://127.0.0.1:${smtpPort}?ignoreTLS=true`,
    CUSTOS_MAIL_FROM: 'bench@mail.example',
    CUSTOS_OTP_REQUESTS: '0',
    CUSTOS_OTP_ORGANIZATION_REQUESTS: '0',
    CUSTOS_PROXY_CODES_PER_MINUTE: '0',
    CUSTOS_PROXY_REQUESTS_PER_MINUTE: '0',
  };
  await service.start({ env });
  const quorum = await createSubOrganization(service.root, 'Many users');
  const user = await createUser(quorum, 'User 0');
  const users: [TestClient, ...TestClient[]] = [user];
  while (users.length < USERS) users.push(await createUser(quorum, `User ${users.length}`));
  // The users take turns, each with the next of its devices.
  const sessions = Array.from({ length: USERS * SESSION_KEYS }, () => ({ publicKey: newKeyPair().publicKey }));
  const logins = submitLoadOf('stamp_login', users, sessions);
  const credentials = readFileSync(join(service.dataDir, 'root-credentials.json'), 'utf8');
  const { authProxyConfigId: configId } = JSON.parse(credentials) as RootCredentials;
  const proxyOf = ({ port }: Target) => ({ baseUrl: `http://127.0.0.1:${port}`, configId });

  const drive = async (target: Target, flow: Flow, connections: number, seconds: number): Promise<Measured> => {
    const { pid } = target;
    const before = { target: cpuSeconds(pid), driver: cpuSeconds(driver.pid), machine: machineCpuSeconds() };
    const prepared = Math.ceil(PREPARED_PER_SECOND * seconds);
    const question = { ask: 'window', flow, connections, seconds, prepared, ...proxyOf(target) } as const;
    const { requests, p50Us, p99Us, sample, seconds: elapsed } = (await driver.ask(question)) as Counted;
    const cpu = cpuSeconds(pid) - before.target;
    const others = machineCpuSeconds() - before.machine - cpu - (cpuSeconds(driver.pid) - before.driver);
    return {
      rate: requests / elapsed,
      p50Us,
      p99Us,
      cpuUs: (cpu * 1e6) / requests,
      otherCores: Math.max(0, others / elapsed),
      sample,
    };
  };

  const measure = (target: Target, { flow, connections }: Scene, seconds: number): Promise<Measured> =>
    flow === 'stamp_login' ? load.run(target, logins, connections, seconds) : drive(target, flow, connections, seconds);
  for (const [index, session] of sessions.entries()) await users[index % USERS]?.run('stamp_login', session);
  return await work({ postgres, driver, smtpPort, service, env, users, logins, proxyOf, measure });
}

/** One figure of the service alone, under the profiler. */
export async function profileLogins(
  kind: DatabaseKind,
  name: string,
  load: Load,
  { seconds }: Options,
  { node = [], env = {} }: StartOptions,
): Promise<Measured> {
  return await withLogins(kind, load, async ({ service, env: own, measure }) => {
    await service.stop();
    await service.start({ node, env: { ...own, ...env } });
    const scene = SCENES.find((candidate) => candidate.name === name) as Scene;
    await measure(service.target, scene, 1);
    const measured = await measure(service.target, scene, seconds);
    await service.stop();
    return measured;
  });
}

export async function measureLogins(
  kind: DatabaseKind,
  names: readonly string[],
  load: Load,
  options: Options,
  tell: (figure: LoginFigure) => void,
  tellWritten: (path: string, written: string) => void,
): Promise<LoginFigure[]> {
  return await withLogins(kind, load, (stage) => compareLogins(kind, names, stage, options, tell, tellWritten));
}

async function compareLogins(
  kind: DatabaseKind,
  names: readonly string[],
  { postgres, driver, smtpPort, service, env, users, logins, proxyOf, measure }: LoginStage,
  options: Options,
  tell: (figure: LoginFigure) => void,
  tellWritten: (path: string, written: string) => void,
): Promise<LoginFigure[]> {
  const database = databaseOf(service);
  const [user] = users;
  const step = async (flow: Flow): Promise<Step> =>
    (await driver.ask({ ask: 'step', flow, ...proxyOf(service.target) })) as Step;
  const recorded = await recordFlows(database, step, user.organizationId);
  const login = await recordSubmit(database, user, logins, 'organization');
  recorded.answers[logins.path] = login.answer;
  recorded.written[logins.path] = login.written;
  await service.stop();
  const directory = mkdtempSync(join(tmpdir(), 'custos-floors-'));
  const copy = await copyOf(database, postgres, directory, 'logins');
  await service.start({ env });
  await using floor = await openFloorServer({
    publicKeys: users.map(({ key }) => key.publicKey),
    answers: recorded.answers,
    works: Object.fromEntries(
      Object.keys(recorded.written).map((path) => [path, { work: WORKS[basename(path)] as BareWork, times: 1 }]),
    ),
    mail: { port: smtpPort, texts: recorded.mails },
    storage: {
      database: copy,
      commits: { kind: 'written', written: recorded.written },
      user: { organizationId: user.organizationId, userId: user.userId },
    },
  });

  for (const [path, { description }] of Object.entries(recorded.written)) tellWritten(path, description);
  const figures: LoginFigure[] = [];
  try {
    for (const scene of SCENES.filter((candidate) => names.includes(candidate.name))) {
      const { name, connections } = scene;
      const at = (target: Target) => (seconds: number) => measure(target, scene, seconds);
      const comparison = await compare(at(floor.target), at(service.target), options);
      const figure = { title: loginTitle(kind, name), connections, beside: BESIDE, ...comparison };
      figures.push(figure);
      tell(figure);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return figures;
}

interface Recorded {
  readonly answers: Record<string, string>;
  readonly written: Record<string, Written>;
  readonly mails: Record<string, string>;
}

/** Each call's answer, mail and writes, of a flow that has run before. */
async function recordFlows(
  database: FloorDatabase,
  step: (flow: Flow) => Promise<Step>,
  organizationId: string,
): Promise<Recorded> {
  const recorded: Recorded = { answers: {}, written: {}, mails: {} };
  for (const flow of ['sign-up', 'otp'] as const) {
    for (let count = 0; count < STEPS[flow]; count += 1) await step(flow);
    await sleep(SETTLE_MS);
    for (let count = 0; count < STEPS[flow]; count += 1) {
      const before = await snapshot(database);
      const { name, answer, mail } = await step(flow);
      const path = `/v1/${name}`;
      recorded.answers[path] = answer;
      recorded.written[path] = findWritten(before, await snapshot(database), organizationId, 'any');
      if (mail !== undefined) recorded.mails[path] = mail;
    }
  }
  return recorded;
}
