import Type from 'typebox';
import {
  HASH_FUNCTIONS,
  type HashFunction,
  PAYLOAD_ENCODINGS,
  type PayloadEncoding,
  signingInput,
} from '../../../chains/payload.ts';
import { payloadElements } from '../../../chains/payload-facts.ts';
import { payloadSentence } from '../../../describe/chains/payload.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { IdShape, textShape } from '../../../lib/shapes.ts';
import { both, PAYLOADS, SIGNERS } from '../../../policy/index.ts';
import { movementsOf, payloadAssets, signerFacts } from '../facts.ts';
import { renderSignature, SignatureShape } from '../signature.ts';
import { resolveSigner, signAs } from '../signer.ts';

const PAYLOAD_MAX = 1024 * 1024;
const common = {
  // Any text can be signed, U+0000 included.
  payload: Type.String({ maxLength: PAYLOAD_MAX }),
  encoding: Type.Enum([...PAYLOAD_ENCODINGS]),
  hashFunction: Type.Enum([...HASH_FUNCTIONS]),
};

export const signRawPayload = defineActivity({
  name: 'sign_raw_payload',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2',
  summary: 'Sign a payload with a wallet account or private key.',
  bodyLimit: LIMITS.bodyBytes,
  policy: {
    governedBy: 'policy',
    resource: 'PRIVATE_KEY',
    action: 'SIGN',
    params: ['hash_function', 'encoding'],
    namespaces: both(SIGNERS, PAYLOADS),
    signsRaw: true,
  },
  credentials: 'none',
  lock: 'shared',
  parameters: Type.Object({ signWith: textShape(512), ...common }),
  older: [
    legacy(
      'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD',
      Type.Object({ privateKeyId: IdShape, ...common }),
      ({ privateKeyId, ...rest }) => ({
        ...rest,
        signWith: privateKeyId,
      }),
    ),
  ],
  sentence: ({ payload, signWith, encoding, hashFunction }, context) =>
    payloadSentence(context, payload, {
      signWith,
      encoding: encoding as PayloadEncoding,
      hashFunction: hashFunction as HashFunction,
    }),
  result: SignatureShape,
  async describe(context, { signWith, payload, encoding, hashFunction }) {
    const signer = await resolveSigner(context, signWith);
    const input = signingInput(
      payload,
      encoding as PayloadEncoding,
      hashFunction as HashFunction,
      signer.account.curve,
    );
    return { signer, input };
  },
  exposes: ({ hashFunction, encoding }) => ({ hash_function: hashFunction, encoding }),
  async facts(_context, { payload, encoding }, { signer }) {
    const target = signerFacts(signer);
    return payloadElements(encoding as PayloadEncoding, [payload]).map((element) => ({ ...element, ...target }));
  },
  movements: async (context, { payload, encoding }, { signer }) =>
    movementsOf(signer, await payloadAssets(context, encoding as PayloadEncoding, [payload])),
  prepare: (context, _parameters, { signer, input }) => signAs(context, signer, signer.account, [input]),
  async execute(_context, _parameters, [signature]) {
    return renderSignature(signature);
  },
});
