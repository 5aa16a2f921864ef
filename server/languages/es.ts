import type { Texts } from "./texts";

export const es: Texts = {
  pages: {
    common: {
      accountTitle: "Tu cuenta",
      backToLogin: "Volver al inicio de sesión",
      continueWith: "Continuar con {provider}",
      email: "Correo electrónico",
      forgotPassword: "¿Olvidaste tu contraseña?",
      language: "Idioma",
      logIn: "Iniciar sesión",
      or: "o",
      otherService: "el otro servicio",
      password: "Contraseña",
    },
    login: {
      createAccount: "¿Aún no tienes cuenta? <register>Crear una cuenta</register>",
      idpFailed: "No se pudo iniciar sesión con {provider}.",
      idpFailedAgain:
        "No se pudo iniciar sesión con {provider}. <again>Inténtalo de nuevo</again> o inicia sesión con tu correo electrónico.",
      passwordReset: "Tu contraseña se ha cambiado. Inicia sesión con la nueva.",
      signInAgain: {
        one: "Iniciaste sesión hace más de {count} minuto. Vuelve a iniciar sesión para continuar.",
        other: "Iniciaste sesión hace más de {count} minutos. Vuelve a iniciar sesión para continuar.",
      },
    },
    forgot: {
      lead: "Introduce el correo electrónico de tu cuenta. Te enviaremos un enlace para elegir una contraseña nueva.",
      send: "Enviar el enlace",
      sent: "Si hay una cuenta para <address>{address}</address>, un enlace para restablecer la contraseña está en camino.",
    },
    register: {
      lead: "Te enviaremos un enlace para elegir una contraseña.",
      logIn: "¿Ya tienes una cuenta? <login>Iniciar sesión</login>",
      next: "Continuar",
      sent: "Si <address>{address}</address> recibe correo, un enlace para terminar de crear la cuenta está en camino.",
      title: "Crear una cuenta",
    },
    sent: {
      askedAgain: "Solicitado de nuevo.",
      help: "Mira en la carpeta de correo no deseado, comprueba la dirección y vuelve a solicitarlo.",
      logged: "Este servidor no envía correo: el mensaje está en la salida del servidor.",
      loggedHere: "También puedes <mails>leerlo aquí</mails>.",
      nothing: "¿No ha llegado nada después de unos minutos?",
      sendAgain: "Enviar de nuevo",
      thatAddress: "esa dirección",
      title: "Revisa tu correo",
      works: {
        one: "Funciona una sola vez, durante {count} minuto.",
        other: "Funciona una sola vez, durante {count} minutos.",
      },
    },
    link: {
      invalidHelp: {
        one: "Un enlace funciona una sola vez, durante {count} minuto. Podemos enviarte uno nuevo.",
        other: "Un enlace funciona una sola vez, durante {count} minutos. Podemos enviarte uno nuevo.",
      },
      sendNew: "Enviar un enlace nuevo",
    },
    reset: {
      submit: "Cambiar la contraseña",
      title: "Elige una contraseña nueva",
    },
    complete: {
      submit: "Crear la cuenta",
      title: "Termina de crear tu cuenta",
    },
    password: {
      capsLock: "El bloqueo de mayúsculas está activado.",
      hide: "Ocultar",
      hideNew: "Ocultar la contraseña nueva",
      hideNewAgain: "Ocultar la repetición de la contraseña nueva",
      hidePassword: "Ocultar la contraseña",
      new: "Contraseña nueva",
      newAgain: "Repite la contraseña nueva",
      show: "Mostrar",
      showNew: "Mostrar la contraseña nueva",
      showNewAgain: "Mostrar la repetición de la contraseña nueva",
      showPassword: "Mostrar la contraseña",
    },
    strength: {
      score0: "Muy fácil de adivinar: añade palabras.",
      score1: "Fácil de adivinar: añade una o dos palabras.",
      score2: "Podría ser más segura: añade una palabra.",
      score3: "Segura.",
      score4: "Muy segura.",
      tooShort: {
        one: "Demasiado corta: usa al menos {count} carácter.",
        other: "Demasiado corta: usa al menos {count} caracteres.",
      },
      use: {
        one: "Usa al menos {count} carácter.",
        other: "Usa al menos {count} caracteres.",
      },
    },
    account: {
      connect: "Vincular {provider}",
      connected: "Ahora puedes iniciar sesión con {provider}.",
      connectFailed: "No se pudo iniciar sesión con {provider}. No se ha cambiado nada.",
      delete: "Eliminar mi cuenta",
      deleteConfirm: "Escribe tu correo electrónico para confirmar",
      deleteForGood: "Eliminar mi cuenta definitivamente",
      deleteTitle: "Eliminar tu cuenta",
      deleteWarning: {
        one: "Se eliminará tu cuenta con todo su contenido. Esta acción no se puede deshacer. Si iniciaste sesión hace más de {count} minuto, antes te pediremos que vuelvas a iniciar sesión.",
        other:
          "Se eliminará tu cuenta con todo su contenido. Esta acción no se puede deshacer. Si iniciaste sesión hace más de {count} minutos, antes te pediremos que vuelvas a iniciar sesión.",
      },
      disconnect: "Desvincular",
      disconnectProvider: "Desvincular {provider}",
      disconnectWarning:
        "Iniciarás sesión solo con tu contraseña y se cerrarán todas las demás sesiones. No podrás iniciar sesión con {provider} hasta que lo vuelvas a vincular aquí.",
      emailAndPassword: "Correo electrónico y contraseña",
      externalSignIn: "inicio de sesión externo",
      logOut: "Cerrar sesión",
      mailPasswordLink: "Cambiar la contraseña por correo",
      name: "Nombre",
      notConnected: "{provider} <muted>· sin vincular</muted>",
      onlyProvider:
        "Tu única forma de iniciar sesión es {provider}. Para poder desvincularlo, establece antes una contraseña.",
      setPassword: "Establecer una contraseña por correo",
      waysIn: "Cómo inicias sesión",
    },
    sessions: {
      end: "Cerrar esta sesión",
      endOthers: "Cerrar todas las demás sesiones",
      lastSeen: "Última actividad: <time>{moment}</time>",
      since: "Inicio de sesión: <time>{moment}</time>",
      thisBrowser: "este navegador",
      title: "Dónde has iniciado sesión",
    },
    deleted: {
      createNew: "Crear una cuenta nueva",
      text: "Todo su contenido se ha borrado y se han cerrado todas sus sesiones.",
      title: "Tu cuenta se ha eliminado",
    },
    errors: {
      goToStart: "Ir a la página de inicio",
      openFormAgain: "Abrir el formulario de nuevo",
      text400: "Hay algo incorrecto en ella. Si venía en un correo, copia el enlace completo.",
      text403: "Por tu seguridad, solo aceptamos formularios de nuestras propias páginas.",
      text404: "No hay ninguna página en esta dirección.",
      text405: "La página no se puede abrir de esta forma.",
      text413: "El formulario superaba la longitud permitida.",
      text415: "Se envió de una forma que no podemos leer.",
      text422: "Faltaba una parte.",
      text429: "Espera unos minutos y vuelve a intentarlo.",
      text500: "El error es nuestro, no tuyo. Inténtalo de nuevo en un momento.",
      text503: "Ahora mismo no podemos responder. No se ha perdido nada.",
      title400: "Esta dirección no se puede leer",
      title403: "Enviado desde otro sitio",
      title404: "Página no encontrada",
      title405: "Esto no funciona aquí",
      title413: "Demasiado texto",
      title415: "No se entendió el formulario",
      title422: "No se entendió el formulario",
      title429: "Demasiados intentos",
      title500: "Algo salió mal",
      title503: "Volvemos en un momento",
      tryAgain: "Intentar de nuevo",
    },
  },

  answers: {
    form: {
      missing: "Este campo falta o se envió dos veces.",
    },
    link: {
      invalid: "Este enlace no es válido o ha caducado.",
      invalidReset: "Este enlace de restablecimiento no es válido o ha caducado.",
    },
    login: {
      tooMany: {
        one: "Demasiados intentos. Inténtalo de nuevo en {count} minuto o restablece tu contraseña.",
        other: "Demasiados intentos. Inténtalo de nuevo en {count} minutos o restablece tu contraseña.",
      },
      wrong: "El correo electrónico o la contraseña son incorrectos.",
    },
    password: {
      common: "Esta contraseña es una de las más comunes. Elige otra.",
      isTheEmail: "Elige una contraseña que no sea tu correo electrónico.",
      tooLong: {
        one: "Usa como máximo {count} carácter.",
        other: "Usa como máximo {count} caracteres.",
      },
      tooShort: {
        one: "Usa al menos {count} carácter.",
        other: "Usa al menos {count} caracteres.",
      },
      unconfirmed: "Las dos contraseñas no coinciden.",
    },
    account: {
      alreadyConnected: "Ya está vinculado.",
      chooseAction: "Elige una acción.",
      disconnected: "El inicio de sesión externo se ha desvinculado y se han cerrado todas las demás sesiones.",
      onlyWayIn: "Establece antes una contraseña: es tu única forma de iniciar sesión.",
      otherSessionsEnded: "Se han cerrado todas las demás sesiones.",
      passwordLinkSent: "Un enlace para establecer la contraseña está en camino a {email}.",
      sessionAlreadyEnded: "Esta sesión ya está cerrada.",
      sessionEnded: "La sesión se ha cerrado.",
      signInOff: "El inicio de sesión externo está desactivado.",
      tooManyLinks: {
        one: "Se han solicitado demasiados enlaces. Inténtalo de nuevo en {count} minuto.",
        other: "Se han solicitado demasiados enlaces. Inténtalo de nuevo en {count} minutos.",
      },
      typeYourEmail: "Escribe el correo electrónico de esta cuenta.",
    },
    browser: {
      onSystem: "{browser} en {system}",
      unknown: "Navegador desconocido",
      unknownOnSystem: "Navegador desconocido en {system}",
    },
    provider: {
      singleSignOn: "el inicio de sesión único",
    },
  },

  mails: {
    common: {
      anotherService: "otro servicio",
      expiry: {
        one: "Este enlace caduca en {count} minuto.",
        other: "Este enlace caduca en {count} minutos.",
      },
      ignore: "Si no lo has solicitado, puedes ignorar este correo.",
      logIn: "Iniciar sesión",
      resetPassword: "Restablecer la contraseña",
      yourAccount: "Tu cuenta",
    },
    reset: {
      button: "Elegir una contraseña nueva",
      lead: "Restablece tu contraseña:",
      subject: "Restablece tu contraseña",
    },
    registration: {
      button: "Elegir una contraseña",
      lead: "Termina de crear tu cuenta:",
      subject: "Termina de crear tu cuenta",
    },
    accountExists: {
      logInHere: "Puedes iniciar sesión aquí:",
      resetHere: "Si olvidaste la contraseña, restablécela aquí:",
      subject: "Ya tienes una cuenta",
      what: "Alguien, probablemente tú, solicitó crear una cuenta con esta dirección. Ya tienes una.",
    },
    passwordChanged: {
      act: "Si no fuiste tú, restablece tu contraseña ahora:",
      subject: "Tu contraseña se ha cambiado",
      what: "La contraseña de tu cuenta se ha cambiado y se han cerrado todas las sesiones.",
    },
    newSignIn: {
      act: "Si no fuiste tú, restablece tu contraseña. Así se cierra la sesión en todos los navegadores:",
      check: "Después inicia sesión y desvincula todo inicio de sesión externo que no hayas vinculado tú:",
      lead: "Alguien, probablemente tú, inició sesión en tu cuenta con su contraseña, en un navegador que aún no conocía:",
      subject: "Nuevo inicio de sesión en tu cuenta",
      what: "{browser}, {moment}",
    },
    providerLinked: {
      act: "Si no fuiste tú, restablece primero tu contraseña. Así se cierra la sesión en todos los navegadores:",
      remove:
        "Después inicia sesión y desvincula {provider} en la página de tu cuenta. Así se cierra la sesión de quien lo haya usado mientras tanto, y {provider} no se podrá volver a vincular sin ti:",
      subject: "Se ha añadido el inicio de sesión con {provider}",
      what: "Ahora puedes iniciar sesión en tu cuenta con {provider}.",
    },
    providerUnlinked: {
      act: "Si no fuiste tú, restablece tu contraseña. Así se cierra la sesión en todos los navegadores:",
      again: "Después inicia sesión. Puedes volver a vincular {provider} en la página de tu cuenta:",
      subject: "Se ha quitado el inicio de sesión con {provider}",
      what: "Ya no se puede iniciar sesión en tu cuenta con {provider}, y se ha cerrado la sesión en todos los demás navegadores.",
    },
    accountDeleted: {
      act: "Si no fuiste tú, alguien pudo iniciar sesión en tu cuenta: cambia la contraseña de tu correo y de todas las cuentas que usaban la misma. Puedes crear una cuenta nueva aquí:",
      button: "Crear una cuenta nueva",
      subject: "Tu cuenta se ha eliminado",
      what: "Tu cuenta se ha eliminado con todo su contenido. No se puede recuperar.",
    },
  },
};
