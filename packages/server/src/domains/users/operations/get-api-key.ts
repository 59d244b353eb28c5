import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderApiKey } from '../render/user.ts';
import { ApiKeyShape } from '../shapes/credentials.ts';
import { CredentialReader } from '../store/credentials.ts';

export const getApiKey = defineQuery({
  name: 'get_api_key',
  summary: 'One API key.',
  parameters: Type.Object({ organizationId: IdShape, apiKeyId: IdShape }),
  response: Type.Object({ apiKey: ApiKeyShape }),
  async run({ read, actor }, { apiKeyId }) {
    return { apiKey: renderApiKey(await read(CredentialReader).getApiKey(actor.organizationId, apiKeyId)) };
  },
});
