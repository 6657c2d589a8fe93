import { Type, type Static } from 'typebox';

const Sqlite = { client: Type.Literal('sqlite'), filename: Type.Optional(Type.String({ minLength: 1 })) };
const Postgres = {
  client: Type.Literal('postgres'),
  url: Type.String({ pattern: '^postgres(ql)?://', description: 'as in postgres://user@host/name' }),
};
const only = (title: string) => ({ additionalProperties: false, title });

/** `database` in svc.config.ts. */
export const DatabaseConfig = Type.Union([
  Type.Object(Sqlite, only("{ client: 'sqlite', filename? }")),
  Type.Object(Postgres, only("{ client: 'postgres', url }")),
]);
export type DatabaseConfig = Static<typeof DatabaseConfig>;
