import { expect, test } from 'vitest';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { looksOf } from '../../src/describe/values.ts';
import { PaymentReader } from '../../src/domains/signing/payments.ts';
import { randomId } from '../../src/lib/ids.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, organization, Place } from './place.ts';

const PAID = '0x9be4c1d2a3b4c5d6e7f8091a2b3c4d5e6f708192';
const ALIKE = `${PAID.slice(0, 6)}${'0'.repeat(32)}${PAID.slice(-4)}`;
const looks = looksOf(PAID) as string;

test.each(DATABASES)('payments from before chains were noted warn, and count nowhere, on %s', async (kind) => {
  await using place = await Place.create(kind);
  const storage = await place.open();
  const made = organization({ name: 'Old' });
  await storage.write(async (store) => await store(OrganizationStore).insert(made));
  await place.close(storage);
  const noteAsBefore = (recipient: string) =>
    `INSERT INTO payment (organization_id, looks, recipient, activity_id, created_at_ms)
      VALUES ('${made.id}', '${looks}', '${recipient}', '${randomId()}', ${NOW})`;
  const text = kind === 'postgres' ? 'text COLLATE "C"' : 'text';
  await place.run('DROP TABLE payment');
  await place.run(`CREATE TABLE payment (
    organization_id ${text} NOT NULL, looks ${text} NOT NULL, recipient ${text} NOT NULL, activity_id ${text} NOT NULL,
    created_at_ms bigint NOT NULL, PRIMARY KEY (organization_id, looks, recipient, activity_id))`);
  await place.run(noteAsBefore(PAID));
  await place.run("DELETE FROM schema_migration WHERE name = '0027-payments-by-chain'");
  const { read } = await place.open();
  // A process of the version before goes on with its own statement.
  await place.run(noteAsBefore(PAID));
  for (const chain of ['eip155:1', 'eip155']) {
    expect(await read(PaymentReader).paid(made.id, { recipient: PAID, looks, chain })).toMatchObject({ count: 0 });
  }
  expect(await read(PaymentReader).alike(made.id, { recipient: ALIKE, looks })).toBe(PAID);
});
