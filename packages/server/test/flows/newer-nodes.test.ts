// The suite runs on one version of Node.js; here each newer one starts, signs and stops. `npm run test:nodes` runs the
// whole suite on them.
import { ed25519 } from '@noble/curves/ed25519.js';
import { describe, expect, test } from 'vitest';
import { findNode, NODE_VERSIONS } from '../../../../scripts/lib/nodes.mjs';
import { TestClient } from '../harness/client.ts';
import { TestServer } from '../harness/server.ts';

const MESSAGE = '68656c6c6f';

describe.skipIf(process.platform !== 'linux')('newer versions of Node.js', () => {
  test.each(NODE_VERSIONS)('%s starts, signs and stops', async (version) => {
    await using server = await TestServer.start({ node: findNode(version) });
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    expect(metrics).toContain(`node="v${version}"`);

    const root = TestClient.root(server.credentials, server.baseUrl);
    const { privateKeys } = await root.run('create_private_keys', {
      privateKeys: [{ privateKeyName: 'Key', curve: 'CURVE_ED25519', addressFormats: [], privateKeyTags: [] }],
    });
    const { privateKeyId } = privateKeys[0];
    const { r, s } = await root.run('sign_raw_payload', {
      signWith: privateKeyId,
      payload: MESSAGE,
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE',
    });
    const { body } = await root.query('get_private_key', { privateKeyId });
    const [signature, message, publicKey] = [r + s, MESSAGE, body.privateKey.publicKey].map((hex) =>
      Uint8Array.from(Buffer.from(hex, 'hex')),
    ) as [Uint8Array, Uint8Array, Uint8Array];
    expect(ed25519.verify(signature, message, publicKey)).toBe(true);
    expect(await server.stop()).toBe(0);
  });
});
