import Type from 'typebox';
import { newHashBudget } from '../../../chains/ethereum/eip712-types.ts';
import {
  HASH_FUNCTIONS,
  type HashFunction,
  PAYLOAD_ENCODINGS,
  type PayloadEncoding,
  signingInput,
} from '../../../chains/payload.ts';
import { payloadElements } from '../../../chains/payload-facts.ts';
import { payloadsSentence } from '../../../describe/chains/payload.ts';
import { defineActivity } from '../../../engine/define.ts';
import { invalidField } from '../../../lib/errors.ts';
import { LIMITS } from '../../../lib/limits.ts';
import { textShape } from '../../../lib/shapes.ts';
import { both, PAYLOADS, SIGNERS } from '../../../policy/index.ts';
import { movementsOf, payloadAssets, signerFacts } from '../facts.ts';
import { renderSignature, SignatureShape } from '../signature.ts';
import { resolveSigner, signAs } from '../signer.ts';

const PAYLOADS_MAX = 100;
const TOTAL_MAX = 1024 * 1024;

export const signRawPayloads = defineActivity({
  name: 'sign_raw_payloads',
  type: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS',
  summary: 'Sign up to 100 payloads with one key, all or nothing.',
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
  parameters: Type.Object({
    signWith: textShape(512),
    payloads: Type.Array(Type.String({ maxLength: TOTAL_MAX }), { minItems: 1, maxItems: PAYLOADS_MAX }),
    encoding: Type.Enum([...PAYLOAD_ENCODINGS]),
    hashFunction: Type.Enum([...HASH_FUNCTIONS]),
  }),
  sentence: ({ payloads, signWith, encoding, hashFunction }, context) =>
    payloadsSentence(context, payloads, {
      signWith,
      encoding: encoding as PayloadEncoding,
      hashFunction: hashFunction as HashFunction,
    }),
  result: Type.Object({ signatures: Type.Array(SignatureShape) }),
  check({ payloads }) {
    const total = payloads.reduce((sum, payload) => sum + payload.length, 0);
    if (total > TOTAL_MAX)
      throw invalidField('parameters.payloads', `must be at most ${TOTAL_MAX} characters together`);
  },
  async describe(context, { signWith, payloads, encoding, hashFunction }) {
    const signer = await resolveSigner(context, signWith);
    const budget = newHashBudget();
    const inputs = payloads.map((payload) =>
      signingInput(payload, encoding as PayloadEncoding, hashFunction as HashFunction, signer.account.curve, budget),
    );
    return { signer, inputs };
  },
  exposes: ({ hashFunction, encoding }) => ({ hash_function: hashFunction, encoding }),
  async facts(_context, { payloads, encoding }, { signer }) {
    const target = signerFacts(signer);
    return payloadElements(encoding as PayloadEncoding, payloads).map((element) => ({ ...element, ...target }));
  },
  movements: async (context, { payloads, encoding }, { signer }) =>
    movementsOf(signer, await payloadAssets(context, encoding as PayloadEncoding, payloads)),
  prepare: (context, _parameters, { signer, inputs }) => signAs(context, signer, signer.account, inputs),
  async execute(_context, _parameters, signatures) {
    return { signatures: signatures.map(renderSignature) };
  },
});
