import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { figureTitle, MANY, PLANS } from './figures.ts';
import { Load } from './load/load.ts';
import { loginNamesOn, loginTitle, profileLogins } from './logins/logins.ts';
import type { Options } from './options.ts';
import { profilesIn, topFunctions } from './profile.ts';
import { table } from './report.ts';
import { type DatabaseKind, openStage } from './stage.ts';
import { profileDeliveries, webhookTitle } from './webhooks/webhooks.ts';

const PROFILED_FUNCTIONS = 30;

/** The service under the load of one figure, with the profiler on. */
export async function profile(options: Options, folder: string, print: (text: string) => void): Promise<void> {
  const databases = ['sqlite', 'postgres'] as const;
  const plan = PLANS.find((candidate) => options.only !== undefined && figureTitle(candidate) === options.only);
  const deliveringOn = databases.find((database) => webhookTitle(database, 'deliveries') === options.only);
  const logins = databases.flatMap((kind) =>
    loginNamesOn(kind).map((name) => ({ kind, name, title: loginTitle(kind, name) })),
  );
  const login = logins.find(({ title }) => title === options.only);
  if (plan === undefined && deliveringOn === undefined && login === undefined) {
    const deliveries = databases.map((database) => webhookTitle(database, 'deliveries'));
    const names = [...PLANS.map(figureTitle), ...logins.map(({ title }) => title), ...deliveries];
    throw new Error(`--profile needs --only with one of: ${names.join(', ')}`);
  }
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  const node = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
  const tell = (lastSeconds: number): void => {
    const [main, ...threads] = profilesIn(folder).map((name) => join(folder, name));
    print(table([['function', 'self'], ...topFunctions(main as string, lastSeconds, PROFILED_FUNCTIONS)]));
    // The poster of webhooks is the one thread that the service has besides.
    for (const thread of threads) {
      print(
        `\n${table([['function of another thread', 'self'], ...topFunctions(thread, lastSeconds, PROFILED_FUNCTIONS)])}`,
      );
    }
  };
  const start = { node, env: options.inline ? { CUSTOS_KEYRING: 'inline' } : {} };
  if (login !== undefined) {
    await using load = new Load();
    const { rate, cpuUs } = await profileLogins(login.kind, login.name, load, options, start);
    print(`${login.title} under the profiler: ${Math.round(rate)} per second, ${Math.round(cpuUs)} us of CPU each`);
    tell(options.seconds);
    return;
  }
  if (plan === undefined) {
    const { rate } = await profileDeliveries(deliveringOn as DatabaseKind, options, node);
    print(`${options.only} under the profiler: ${Math.round(rate)} deliveries per second`);
    tell(Number.POSITIVE_INFINITY);
    return;
  }
  await using load = new Load();
  await using stage = await openStage(plan.database as DatabaseKind, start);
  const workload = stage.workloads[plan.name];
  await load.run(stage.service.target, workload, MANY, 1);
  const measured = await load.run(stage.service.target, workload, plan.connections, options.seconds);
  print(`${figureTitle(plan)} under the profiler: ${Math.round(measured.rate)} requests per second`);
  await stage.service.stop();
  tell(options.seconds);
}
