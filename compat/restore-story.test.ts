// A disaster as its operator goes through it, by the commands of docs/guides/disaster-recovery.md: what the lost service paid
// after the backup is not paid again. The chain is a real node.
import { join } from 'node:path';
import { type Address, parseEther } from 'viem';
import { describe, expect, test, vi } from 'vitest';
import { LIMITS } from '../packages/server/src/lib/limits.ts';
import { runCli, temporaryFolder } from '../packages/server/test/faults/support.ts';
import { DATABASES } from '../packages/server/test/harness/databases.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { newAgeKey } from '../packages/server/test/restore/support.ts';
import { startAnvil } from './chain/anvil.ts';
import { connectTo } from './chain/deploy.ts';
import { poll } from './chain/poll.ts';
import { TroubledNode } from './chain/troubled-node.ts';
import { connect, errorCodeOf, refusal } from './sdk.ts';

const CHAIN = 'eip155:31337' as never;
/** Nobody else pays it. */
const TO: Address = '0x00000000000000000000000000000000000c0de0';
const PATIENCE = { timeout: 10_000, interval: 50 };

describe.each(DATABASES)('with %s', (database) => {
  test('backed up, lost, restored and accepted, it has paid everything once', { timeout: 120_000 }, async () => {
    using folder = temporaryFolder();
    await using anvil = await startAnvil();
    await using node = await TroubledNode.start(anvil.url);
    const chains = { 'eip155:31337': { rpcUrls: [node.url], pollMs: 100 } };
    const env = { CUSTOS_CHAINS: JSON.stringify(chains), CUSTOS_LOG_LEVEL: 'error' };
    await using service = await TestServer.start({ database, env });
    const { databaseUrl } = service;
    const root = () => connect(service.baseUrl, service.credentials);

    const account = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', path: "m/44'/60'/0'/0/0" } as const;
    const accounts = [{ ...account, addressFormat: 'ADDRESS_FORMAT_ETHEREUM' as const }];
    const { addresses } = await root().createWallet({ walletName: 'treasury', accounts });
    const [from] = addresses as [Address];
    await anvil.setBalance(from, parseEther('1'));

    const pay = async (value: number, aheadMs = 0): Promise<string> => {
      const timestampMs = String(Date.now() + aheadMs);
      const calls = [{ to: TO, value: String(value) }];
      return (await root().ethSendTransaction({ caip2: CHAIN, from, calls, timestampMs })).sendTransactionStatusId;
    };
    const statusOf = (sendTransactionStatusId: string) => root().getSendTransactionStatus({ sendTransactionStatusId });
    const becomes = (id: string, wanted: string) =>
      poll(
        () => statusOf(id),
        ({ txStatus }) => txStatus === wanted,
      );
    /** The hash that it was included under. */
    const included = async (id: string): Promise<string> => String((await becomes(id, 'INCLUDED')).eth?.txHash);
    const custos = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli(service.environment, ...args);
      expect(code, stderr).toBe(0);
      return { stdout, stderr };
    };

    // Backed up while one payment has landed, one is in no block, and one waits for a node.
    const landed = await pay(1);
    const landedHash = await included(landed);
    await anvil.request('evm_setAutomine', [false]);
    const underWay = await pay(10);
    await becomes(underWay, 'BROADCASTING');
    await node.handedOver(2);
    node.trouble = 'down';
    const waiting = await pay(100);
    const key = await newAgeKey(folder.path);
    const file = join(folder.path, 'custos.age');
    expect((await custos('backup', file, '--recipient', key.recipient)).stdout).toMatch(/^backup /);

    // It goes on until it is lost.
    node.trouble = 'none';
    await anvil.request('evm_setAutomine', [true]);
    await anvil.mine();
    const hashes = [landedHash, await included(underWay), await included(waiting)];
    await root().createWallet({ walletName: 'later', accounts });
    await service.kill();

    const restored = await custos('restore', file, '--identity', key.file, '--yes');
    expect(restored.stdout).toMatch(/^restored backup /);
    const kept = /is kept as (?:the schema )?(\S+)\. /.exec(restored.stderr)?.[1] as string;
    await service.start();
    expect(errorCodeOf(await refusal(pay(1000)))).toBe('FENCED');
    const sends = [landed, underWay, waiting];
    const states = ['INCLUDED', 'BROADCASTING', 'INITIALIZED'];
    expect((await Promise.all(sends.map(statusOf))).map(({ txStatus }) => txStatus)).toEqual(states);

    const newer = databaseUrl === undefined ? kept : `${databaseUrl}?options=-c%20search_path%3D${kept}`;
    const { stdout: reviewed } = await custos('restore', 'review', '--against', newer);
    for (const [index, id] of sends.entries()) {
      const [first, second] = reviewed.slice(reviewed.indexOf(`  ${id} `)).split('\n');
      expect(first).toMatch(new RegExp(`, paid by ${from}, ${states[index]} in the backup\\)$`, 'i'));
      expect(second).toMatch(new RegExp(`^ {4}landed in block \\d+ as ${hashes[index]}$`));
    }
    expect(reviewed).toMatch(/ wallet later \(\S+\) was added .* It is LOST here/);
    expect(reviewed).toMatch(/\n3 sends in question, 0 of them undecided; \d+ differences?\n$/);
    expect((await custos('restore', 'accept', '--yes')).stdout).toMatch(
      /^accepted for all organizations by \S+; 3 sends settled\n$/,
    );

    // The next one leaves. A body of the first minutes after a restore may have run before it, by a clock that was ahead.
    const next = await vi.waitFor(() => pay(1000, LIMITS.liveAfterMs - 1000), PATIENCE);
    await included(next);
    expect(await Promise.all(sends.map(included))).toEqual(hashes);
    expect(new Set(node.handed).size).toBe(4);
    const { reader } = connectTo(anvil);
    expect(await reader.getTransactionCount({ address: from })).toBe(4);
    expect(await reader.getBalance({ address: TO })).toBe(1111n);
  });
});
