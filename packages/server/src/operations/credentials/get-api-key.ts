import Type from 'typebox';
import { renderApiKey } from '../../wire/user.ts';
import { defineQuery } from '../define.ts';
import { IdShape } from '../shapes/basic.ts';
import { ApiKeyShape } from '../shapes/credentials.ts';

export const getApiKey = defineQuery({
  name: 'get_api_key',
  summary: 'One API key.',
  parameters: Type.Object({ organizationId: IdShape, apiKeyId: IdShape }),
  response: Type.Object({ apiKey: ApiKeyShape }),
  async run({ read, actor }, { apiKeyId }) {
    return { apiKey: renderApiKey(await read.credentials.getApiKey(actor.organizationId, apiKeyId)) };
  },
});
