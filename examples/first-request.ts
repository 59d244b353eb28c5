// The shortest way in: who am I, and who else is here?
import { rootAccess } from './credentials.ts';

const { client } = rootAccess();

const me = await client.whoami();
console.log(`I am ${me.username} of ${me.organizationName}.`);

const { users } = await client.listUsers();
for (const user of users) {
  console.log(`- ${user.userName} (${user.userId}), API keys: ${user.apiKeys.length}`);
}
