import { asFields, asText } from './json/fields.ts';

export type OptionalPackage = {
  /** Name to install. */
  name: string;
  /** Name for people. Default: `name`. */
  title?: string;
  /** Packages to install. Default: `name`. */
  install?: string;
  /** What to do instead of installing it, as an imperative: "set DATABASE_URL". */
  instead?: string;
};

/** Error of an optional peer dependency that is needed and not installed. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError';
  readonly code = 'missing-package';

  constructor({ name, title = name, install = name, instead }: OptionalPackage, options?: ErrorOptions) {
    const alternative = instead === undefined ? '' : `, or ${instead}`;
    super(`${title} is not installed. Run \`npm install ${install}\`${alternative}.`, options);
  }
}

/** Loads an optional peer dependency. Throws a `MissingPackageError` if it is not installed. */
export async function importOptional<Module>(load: () => Promise<Module>, needed: OptionalPackage): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    // Other modules may be missing too, for example a dependency of the package.
    const message = asText(asFields(error)['message']) ?? '';
    const isMissing = /cannot find (package|module)/i.test(message) && message.includes(`'${needed.name}'`);
    throw isMissing ? new MissingPackageError(needed, { cause: error }) : error;
  }
}
