import { NoSuchModelError, type ProviderV3 } from '@ai-sdk/provider';
import { checkServer, type MAILCheck } from '../client/check-server.ts';
import { MAILLanguageModel } from './mail-language-model.ts';
import { MAILServer } from '../client/mail-server.ts';
import type { MAILModelSettings, MAILProviderSettings } from '../shared/mail-settings.ts';

/** Settings of a provider and a model in one object. */
export type MAILObjectSettings = MAILProviderSettings & MAILModelSettings;

export interface MAILProvider extends ProviderV3 {
  /** Creates a model for the swarm `modelId`. `default` is the swarm that the server hosts. */
  (modelId?: string, settings?: MAILModelSettings): MAILLanguageModel;
  (settings: MAILObjectSettings): MAILLanguageModel;
  languageModel(modelId: string, settings?: MAILModelSettings): MAILLanguageModel;
  chat(modelId: string, settings?: MAILModelSettings): MAILLanguageModel;
  /** Checks the server and reports how to fix the first problem. Never throws. */
  check(options?: { swarm?: string; signal?: AbortSignal }): Promise<MAILCheck>;
}

export function createMAIL(providerSettings: MAILProviderSettings = {}): MAILProvider {
  const languageModel = (modelId = 'default', settings: MAILModelSettings = {}): MAILLanguageModel =>
    new MAILLanguageModel(modelId, settings, providerSettings);
  const create = (first?: string | MAILObjectSettings, settings?: MAILModelSettings): MAILLanguageModel => {
    if (typeof first !== 'object') return languageModel(first, settings);
    return new MAILLanguageModel(first.swarm ?? 'default', first, { ...providerSettings, ...first });
  };
  return Object.assign(create, {
    specificationVersion: 'v3' as const,
    languageModel,
    chat: languageModel,
    embeddingModel: rejectModelType('embeddingModel'),
    textEmbeddingModel: rejectModelType('embeddingModel'),
    imageModel: rejectModelType('imageModel'),
    check: async ({ swarm, signal }: { swarm?: string; signal?: AbortSignal } = {}) => {
      const { swarms = {} } = providerSettings;
      const mapped = swarm !== undefined && Object.hasOwn(swarms, swarm) ? swarms[swarm] : undefined;
      return checkServer(new MAILServer(providerSettings, mapped), mapped === undefined ? swarm : undefined, signal);
    },
  });
}

/** Creates a factory that throws, for the model types that MAIL does not have. */
const rejectModelType =
  (modelType: 'embeddingModel' | 'imageModel') =>
  (modelId: string): never => {
    const message = `A MAIL swarm is a language model, not an ${modelType}.`;
    throw new NoSuchModelError({ modelId, modelType, message });
  };

/** Default provider, configured by the environment variables `MAIL_BASE_URL` and `MAIL_API_KEY`. */
export const mail: MAILProvider = createMAIL();
