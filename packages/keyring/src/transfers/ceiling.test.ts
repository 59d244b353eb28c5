import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KeyringError } from '../errors.ts';
import type { LogLine } from '../log.ts';
import { Ceilings } from './ceiling.ts';
import type { KeyringLimits, TransferKind, TransferLimits } from './limits.ts';

/** Ceilings with a clock that stands still until it is told otherwise. */
function startWith(limits: KeyringLimits) {
  const state = { nowMs: 5000, lines: [] as LogLine[] };
  const ceiling = new Ceilings(limits, { nowMs: () => state.nowMs, log: (line) => state.lines.push(line) });
  const attempt = async (organizationId: string, ...ownerIds: string[]): Promise<number | undefined> => {
    try {
      await ceiling.admit({
        kind: 'export',
        what: 'exportWallet',
        organizationId,
        ownerIds: ownerIds.length === 0 ? ['w'] : ownerIds,
      });
      return undefined;
    } catch (error) {
      expect((error as KeyringError).code).toBe('TOO_MANY_EXPORTS');
      return (error as KeyringError).retryAfterSeconds;
    }
  };
  return { state, attempt, ceiling };
}

const start = (exportLimits: TransferLimits) => startWith({ exportLimits });

test('an organization has its share of a minute, and others have theirs', async () => {
  const { state, attempt } = start({ perOrganization: 2, inAll: 5 });
  expect(await attempt('a')).toBeUndefined();
  state.nowMs += 10_000;
  expect(await attempt('a')).toBeUndefined();
  expect(await attempt('a')).toBe(50);
  expect([await attempt('b'), await attempt('b'), await attempt('c')]).toEqual([undefined, undefined, undefined]);
  expect(await attempt('d')).toBe(50);
  state.nowMs += 49_999;
  expect(await attempt('a')).toBe(1);
  state.nowMs += 1;
  expect(await attempt('a')).toBeUndefined();
  expect(await attempt('a')).toBe(10);
});

test('each is logged, with nothing but what it is; refusals once a second with their number', async () => {
  const { state, attempt } = start({ perOrganization: 1, inAll: 0 });
  await attempt('a', 'wallet-1');
  for (let call = 0; call < 3; call += 1) await attempt('a', 'wallet-2');
  state.nowMs += 1000;
  await attempt('a', 'wallet-3');
  const reason = 'the keyring makes 1 exports a minute of one organization';
  const refused = { level: 40, msg: 'exports refused', reason, what: 'exportWallet', organizationId: 'a' };
  expect(state.lines).toEqual([
    { msg: 'export', what: 'exportWallet', organizationId: 'a', ownerId: 'wallet-1' },
    { ...refused, refused: 1, ownerId: 'wallet-2' },
    { ...refused, refused: 3, ownerId: 'wallet-3' },
  ]);
});

test('what one call asks for is let through as a whole or not at all', async () => {
  const { state, attempt, ceiling } = start({ perOrganization: 4, inAll: 6 });
  expect(await attempt('a', '1', '2')).toBeUndefined();
  state.nowMs += 10_000;
  expect(await attempt('a', '3')).toBeUndefined();
  // One has room, two have not until the first two leave the window, and none of a batch is counted.
  expect(await attempt('a', '4', '5')).toBe(50);
  expect(await attempt('a', '4', '5', '6', '7')).toBe(60);
  expect(await attempt('a', '4')).toBeUndefined();
  expect(await attempt('b', '1', '2', '3')).toBe(50);
  expect(await attempt('b', '1', '2')).toBeUndefined();
  expect(state.lines.filter(({ msg }) => msg === 'export')).toHaveLength(6);
  const ownerIds = ['1', '2', '3', '4', '5'];
  const most = { kind: 'export', what: 'exportSecrets', organizationId: 'c', ownerIds } as const;
  await expect(ceiling.admit(most)).rejects.toMatchObject({
    code: 'TOO_MANY_EXPORTS_AT_ONCE',
    message: 'the keyring makes 4 exports a minute of one organization, and this asks for 5 at once',
    retryAfterSeconds: undefined,
  });
});

test('a flood of imports, which have no limit, does not push exports out of the log', async () => {
  const { state, attempt, ceiling } = startWith({});
  const imports = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        ceiling.admit({ kind: 'import', what: 'importWallet', organizationId: 'a', ownerIds: [`w${index}`] }),
      ),
    );
  await imports(20_000);
  expect(await attempt('a', 'wallet-1')).toBeUndefined();
  expect(state.lines).toHaveLength(51);
  expect(state.lines.at(-1)).toMatchObject({ msg: 'export', ownerId: 'wallet-1' });
  state.nowMs += 1000;
  await imports(1);
  expect(state.lines.slice(51)).toEqual([
    { level: 40, msg: 'imports not shown one by one', count: 19_950 },
    { msg: 'import', what: 'importWallet', organizationId: 'a', ownerId: 'w0' },
  ]);
});

test('organizations that are made up do not fill the memory', async () => {
  const { state, ceiling } = start({ perOrganization: 1000, inAll: 0 });
  const ownerIds = Array.from({ length: 1000 }, () => 'w');
  const admit = (organizationId: string) =>
    ceiling.admit({ kind: 'export', what: 'exportWallet', organizationId, ownerIds });
  for (let count = 0; count < 100; count += 1) await admit(String(count));
  await expect(admit('one more')).rejects.toMatchObject({
    code: 'TOO_MANY_EXPORTS',
    message: 'the keyring makes 100000 exports a minute in all',
  });
  state.nowMs += 60_000;
  await admit('one more');
});

test('one that does not know what was exported before lets a minute pass', async () => {
  const { state, attempt, ceiling } = start({ perOrganization: 1, inAll: 0 });
  ceiling.waitForWindow();
  expect(await attempt('a')).toBe(60);
  state.nowMs += 59_500;
  expect(await attempt('a')).toBe(1);
  state.nowMs += 500;
  expect(await attempt('a')).toBeUndefined();
});

test('a limit of 0 is none', async () => {
  const { state, attempt } = start({ perOrganization: 0, inAll: 0 });
  for (let call = 0; call < 1000; call += 1) expect(await attempt('a')).toBeUndefined();
  expect(state.lines).toHaveLength(1000);
});

test('imports have no limit of their own accord, and exports have', async () => {
  const { state, ceiling } = startWith({});
  const admit = (kind: TransferKind) =>
    ceiling.admit({ kind, what: `${kind}Wallet`, organizationId: 'a', ownerIds: ['w'] });
  for (let call = 0; call < 1000; call += 1) {
    await admit('import');
    // As many in a second as are shown one by one.
    state.nowMs += 20;
  }
  for (let call = 0; call < 60; call += 1) await admit('export');
  await expect(admit('export')).rejects.toMatchObject({ code: 'TOO_MANY_EXPORTS' });
  expect(state.lines.filter(({ msg }) => msg === 'import')).toHaveLength(1000);
  // A keyring that was killed had no limit to get around.
  ceiling.waitForWindow();
  await admit('import');
});

test('imports are counted for themselves, and refused and logged as what they are', async () => {
  const { state, attempt, ceiling } = startWith({
    exportLimits: { perOrganization: 1, inAll: 0 },
    importLimits: { perOrganization: 2, inAll: 3 },
  });
  const imported = (organizationId: string, ...ownerIds: string[]) =>
    ceiling.admit({ kind: 'import', what: 'importSecrets', organizationId, ownerIds });
  expect(await attempt('a')).toBeUndefined();
  await imported('a', '1');
  state.nowMs += 20_000;
  await expect(imported('a', '2', '3')).rejects.toMatchObject({
    code: 'TOO_MANY_IMPORTS',
    message: 'the keyring takes 2 imports a minute of one organization',
    retryAfterSeconds: 40,
  });
  await expect(imported('b', '1', '2', '3')).rejects.toMatchObject({
    code: 'TOO_MANY_IMPORTS_AT_ONCE',
    message: 'the keyring takes 2 imports a minute of one organization, and this asks for 3 at once',
    retryAfterSeconds: undefined,
  });
  await imported('b', '1', '2');
  await expect(imported('c', '1')).rejects.toMatchObject({ message: 'the keyring takes 3 imports a minute in all' });
  expect(await attempt('a')).toBe(40);
  const import1 = { msg: 'import', what: 'importSecrets', organizationId: 'a', ownerId: '1' };
  expect(state.lines.filter(({ msg }) => msg === 'import')[0]).toEqual(import1);
  expect(state.lines.filter(({ msg }) => msg === 'imports refused')[0]).toMatchObject({
    refused: 1,
    organizationId: 'a',
  });
  ceiling.waitForWindow();
  await expect(imported('d', '1')).rejects.toMatchObject({
    message: 'the keyring was not shut down, and takes no imports in its first minute',
    retryAfterSeconds: 60,
  });
});

test('no minute has more than the limits, whenever they are asked for, and what is told is when there is room', async () => {
  const step = fc.record({ waitMs: fc.integer({ min: 0, max: 20_000 }), organization: fc.constantFrom('a', 'b', 'c') });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { state, attempt } = start({ perOrganization: 3, inAll: 5 });
      const admitted: { readonly atMs: number; readonly organization: string }[] = [];
      for (const { waitMs, organization } of steps) {
        state.nowMs += waitMs;
        const retryAfterSeconds = await attempt(organization);
        const recent = admitted.filter(({ atMs }) => atMs > state.nowMs - 60_000);
        const own = recent.filter((each) => each.organization === organization);
        expect(retryAfterSeconds === undefined).toBe(recent.length < 5 && own.length < 3);
        if (retryAfterSeconds === undefined) admitted.push({ atMs: state.nowMs, organization });
        else expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
      }
    }),
  );
});
