import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encryptTo, KNOWN_WALLET, newImportTarget, newSecretTargets, Receiver } from '../../harness/bundles.ts';
import { createSubOrganization, createUser } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { allow, COMPLETED, deny, isUser, newOrganization, outcome } from '../fixtures/policy-flows.ts';
import { account, ethereum, newWallet } from '../fixtures/wallets.ts';
import { ask, FRIEND, openSimulations, type Request, renameRequest, simulate, transfer, wish } from './support.ts';

describe.each(databasesOf(import.meta.url))('simulate_activity on %s', (database) => {
  const suite = openSimulations(database);

  describe('is refused', () => {
    test('for what is no activity', async () => {
      const { alice } = await newOrganization(suite.parent, 'alice');
      const other = await newOrganization(suite.parent, 'eve');
      const good = wish(renameRequest(alice));
      expect((await alice.query('simulate_activity', good)).status).toBe(200);
      const refused: [string, Record<string, unknown>, string][] = [
        ['no request', {}, 'request'],
        ['an unknown type', { request: { ...good.request, type: 'ACTIVITY_TYPE_NOTHING' } }, 'request.type'],
        ['a vote', { request: { ...good.request, type: 'ACTIVITY_TYPE_APPROVE_ACTIVITY' } }, 'request.type'],
        ['no type', { request: { parameters: {} } }, 'request.type'],
        ['no parameters', { request: { type: good.request.type } }, 'request.parameters'],
        ['wrong parameters', { request: { ...good.request, parameters: { userId: 5 } } }, 'userId'],
        ['a submitter of another organization', { ...good, submitterUserId: other.eve.userId }, 'submitterUserId'],
        ['an unknown submitter', { ...good, submitterUserId: randomUUID() }, 'submitterUserId'],
        ['an approver of another organization', { ...good, approverUserIds: [other.eve.userId] }, 'approverUserIds'],
        [
          'a request for another organization',
          { request: { ...good.request, organizationId: other.root.organizationId } },
          'request.organizationId',
        ],
      ];
      for (const [name, parameters, field] of refused) {
        const answer = await alice.query('simulate_activity', parameters);
        expect(outcome(answer), name).toEqual([400, 'REQUEST_INVALID']);
        expect(JSON.stringify(answer.body), name).toContain(field);
      }
      const withType = await alice.query('simulate_activity', { ...good, type: good.request.type });
      expect(outcome(withType)).toEqual([400, 'REQUEST_INVALID']);
      // A body that names the organization of the simulation is one.
      const named = { request: { ...good.request, organizationId: alice.organizationId, timestampMs: '1' } };
      expect((await alice.query('simulate_activity', named)).status).toBe(200);
    });

    test('for an approver that does not exist, also when nobody has to approve', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      await allow(root);
      const answer = await ask(alice, renameRequest(alice), { approverUserIds: [randomUUID()] });
      expect(outcome(answer)).toEqual([400, 'REQUEST_INVALID']);
    });

    test('for organizations that the caller may not read', async () => {
      const one = await newOrganization(suite.parent, 'alice');
      const other = await newOrganization(suite.parent, 'bob');
      await deny(one.root, { name: 'A secret rule' });
      const asked = wish(renameRequest(one.alice), {
        organizationId: one.root.organizationId,
        submitterUserId: one.alice.userId,
      });
      expect((await one.alice.query('simulate_activity', asked)).status).toBe(200);
      for (const client of [other.root, other.bob]) {
        const answer = await client.query('simulate_activity', asked);
        expect(answer.status).toBe(401);
        expect(JSON.stringify(answer.body)).not.toContain('A secret rule');
      }
      // A child sees nothing of its parent.
      const above = wish(renameRequest(suite.parent), {
        organizationId: suite.parent.organizationId,
        submitterUserId: suite.parent.userId,
      });
      expect((await one.root.query('simulate_activity', above)).status).toBe(401);
      expect((await suite.parent.query('simulate_activity', above)).status).toBe(200);
    });

    test('a parent simulates for its child when it says as whom', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const policyId = await allow(root, { consensus: isUser(alice) });
      const { organizationId } = root;
      const request = renameRequest(alice);
      const nobody = await ask(suite.parent, request, { organizationId });
      expect(outcome(nobody)).toEqual([400, 'REQUEST_INVALID']);
      expect(nobody.body.message).toContain('submitterUserId');
      const itself = await ask(suite.parent, request, { organizationId, submitterUserId: suite.parent.userId });
      expect(outcome(itself)).toEqual([400, 'REQUEST_INVALID']);
      const simulated = await simulate(suite.parent, request, { organizationId, submitterUserId: alice.userId });
      expect(simulated).toMatchObject({ status: COMPLETED, decidingPolicyIds: [policyId] });
      const byRoot = await simulate(suite.parent, request, { organizationId, submitterUserId: root.userId });
      expect(byRoot).toMatchObject({ status: COMPLETED, reason: 'ROOT_QUORUM' });
    });

    test('what the submit refuses, to those who may and to those who may not', async () => {
      const { root, alice } = await newOrganization(suite.parent, 'alice');
      const bob = await createUser(root, 'bob');
      await allow(root, { consensus: isUser(bob) });
      const { addresses } = await newWallet(root, [ethereum(), account('ED25519', "m/44'/501'/0'/0'", 'SOLANA')]);
      const malformed: Request[] = [
        {
          operation: 'create_sub_organization',
          parameters: { subOrganizationName: 'x', rootQuorumThreshold: 1, rootUsers: [] },
        },
        {
          operation: 'create_policy',
          parameters: { policyName: 'x', effect: 'EFFECT_ALLOW', notes: '', condition: '1' },
        },
      ];
      malformed.push(
        {
          operation: 'sign_transaction',
          parameters: { signWith: addresses[0], unsignedTransaction: '0x1234', type: 'TRANSACTION_TYPE_ETHEREUM' },
        },
        {
          operation: 'sign_transaction',
          parameters: { signWith: addresses[1], unsignedTransaction: transfer(1n), type: 'TRANSACTION_TYPE_ETHEREUM' },
        },
      );
      const impossible: Request[] = [
        {
          operation: 'sign_transaction',
          parameters: { signWith: FRIEND, unsignedTransaction: transfer(1n), type: 'TRANSACTION_TYPE_ETHEREUM' },
        },
      ];
      const refused = [...malformed.map((request) => [alice, request] as const)];
      refused.push(...[...malformed, ...impossible].map((request) => [bob, request] as const));
      for (const [client, request] of refused) {
        const simulated = await ask(client, request);
        const submitted = await client.submit(request.operation, request.parameters);
        expect(submitted.status, request.operation).toBeGreaterThanOrEqual(400);
        expect(outcome(simulated), request.operation).toEqual(outcome(submitted));
        expect(simulated.body.message).toBe(submitted.body.message);
      }
      // Somebody without rights is told nothing about what it is; an import for somebody else is nobody's right.
      const imported: Request = { operation: 'init_import_wallet', parameters: { userId: root.userId } };
      const denied = [...impossible.map((request) => [alice, request] as const), [bob, imported] as const];
      for (const [client, request] of denied) {
        const simulated = await ask(client, request);
        const submitted = await client.submit(request.operation, request.parameters);
        expect(outcome(submitted), request.operation).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
        expect(simulated.body.simulation?.status, request.operation).toBe('ACTIVITY_STATUS_REJECTED');
      }
    });
  });

  describe('tries nothing out', () => {
    test('a bundle is neither opened nor used up', async () => {
      const { root } = await newOrganization(suite.parent);
      const target = await newImportTarget(root, 'wallet');
      const elsewhere = await newImportTarget(
        await createSubOrganization(suite.parent, `Org ${randomUUID()}`),
        'wallet',
      );
      const importing = (encryptedBundle: string): Request => ({
        operation: 'import_wallet',
        parameters: { userId: root.userId, walletName: 'Imported', encryptedBundle, accounts: [ethereum()] },
      });
      const good = importing(encryptTo(target, KNOWN_WALLET.mnemonic));
      const bad = [
        importing(encryptTo(target, 'these are no words of any list')),
        importing(encryptTo(elsewhere, KNOWN_WALLET.mnemonic)),
        importing(JSON.stringify({ encappedPublic: '04', ciphertext: '00' })),
      ];
      const said = await ask(root, good);
      expect(said.body.simulation.status).toBe(COMPLETED);
      for (const request of bad) expect((await ask(root, request)).body).toEqual(said.body);
      expect((await ask(root, good)).body).toEqual(said.body);
      for (const request of bad) {
        expect((await root.submit(request.operation, request.parameters)).status).toBe(400);
      }
      const { addresses } = await root.run(good.operation, good.parameters);
      expect(addresses).toEqual([KNOWN_WALLET.address]);
      // Used up now, which it does not tell either.
      expect((await ask(root, good)).body).toEqual(said.body);
      expect((await root.submit(good.operation, good.parameters)).status).toBe(400);
    });

    test('secrets likewise', async () => {
      const { root } = await newOrganization(suite.parent);
      const [target = ''] = await newSecretTargets(root, 1);
      const encryptionSuite = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
      const importing = (targetPublicKey: string, secretPayload: string): Request => ({
        operation: 'import_secrets',
        parameters: { secrets: [{ secretPayload, targetPublicKey, encryptionSuite }] },
      });
      const good = importing(target, encryptTo(target, 'secret'));
      const stranger = new Receiver().publicKey;
      const said = await ask(root, good);
      expect(said.body.simulation.status).toBe(COMPLETED);
      for (const request of [
        importing(target, encryptTo(stranger, 'secret')),
        importing(stranger, encryptTo(stranger, 'secret')),
      ]) {
        expect((await ask(root, request)).body).toEqual(said.body);
        expect((await root.submit(request.operation, request.parameters)).status).toBe(400);
      }
      expect((await root.run(good.operation, good.parameters)).secretIds).toHaveLength(1);
    });
  });
});
