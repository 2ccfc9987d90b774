import Joi from 'joi';

/**
 * The host's own joi, for modules that bring none: `import` gets it as the default, `require` as
 * the module itself. Schemas of another version could not be asked by the host. A module that has
 * joi installed beside it gets this one all the same.
 */
const own = Joi; // the bundler cannot export an import under two names
export { own as default, own as 'module.exports' };
